"""Serves Presidio's analyzer at POST /analyze, as its container does, on a free port.

With a folder of a spaCy model it finds names, too. Without one it finds what patterns find.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import spacy
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import SpacyNlpEngine


class Engine(SpacyNlpEngine):
    def __init__(self, model):
        super().__init__()
        self.nlp = {"en": spacy.load(model) if model else spacy.blank("en")}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            found = engine.analyze(
                text=asked["text"], language=asked["language"], entities=asked["entities"], score_threshold=asked["score_threshold"]
            )
            status, answer = 200, [one.to_dict() for one in found]
        except Exception as failure:
            status, answer = 500, {"error": str(failure)}
        body = json.dumps(answer, default=str).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


engine = AnalyzerEngine(nlp_engine=Engine(next(iter(sys.argv[1:]), "")), supported_languages=["en"])
server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
