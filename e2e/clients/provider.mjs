// An identity provider: everybody signs in with any password, and is a reader, or an admin of the
// name root. It prints its address, and reads the address of Cairn.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const installed = createRequire(process.env.PROVIDER + "/package.json");
const { Provider } = await import(pathToFileURL(installed.resolve("oidc-provider")));

// The address is known when the server listens, and the provider needs it before.
const server = createServer((request, response) => handle(request, response));
let handle = (_, response) => response.writeHead(503).end();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}`;

console.log(address);
const cairn = await new Promise((resolve) => createInterface({ input: process.stdin }).once("line", resolve));
const provider = new Provider(address, {
  clients: [{
    client_id: "cairn",
    client_secret: process.env.CLIENT_SECRET,
    redirect_uris: [cairn + "/auth/callback"],
    post_logout_redirect_uris: [cairn + "/"],
  }],
  claims: { openid: ["sub"], profile: ["name", "roles", "groups"], email: ["email", "email_verified"] },
  cookies: { keys: ["a key for the cookies of this provider"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id, name: `${id} of Halden`, email: `${id}@halden.example`, email_verified: true,
      roles: id === "nobody" ? [] : [id === "root" ? "admin" : "reader"], groups: ["keepers"],
    }),
  }),
});
handle = provider.callback();
console.log("ready");
