// Each example has a button that copies it, and the page says so aloud.
const said = document.getElementById("said");
for (const example of document.querySelectorAll(".copied")) {
  const button = example.querySelector("button"), text = example.querySelector("pre");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch { // only a page from this machine or over https may write by itself
      getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
    said.textContent = "Copied";
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
  });
}
// A link to an operation or a schema opens it.
const show = () => {
  for (let e = document.getElementById(location.hash.slice(1)); e; e = e.parentElement)
    if (e.tagName === "DETAILS") e.open = true;
};
addEventListener("hashchange", show);
show();
