"""Reads PDFs with another library in several processes, for bench/pdf.go.

usage: pdf_peer.py LIBRARY PROCESSES FILE...

pypdf reads the text of each page, PyMuPDF the words of each page with their
boxes. The script writes one line of JSON: the version of the library, the pages
that it read, the files that it could not read, the seconds that passed and the
processor seconds of the processes.
"""

import importlib
import json
import logging
import multiprocessing
import resource
import sys
import time

logging.disable(logging.CRITICAL)  # pypdf logs what is odd in a file
name = sys.argv[1]
library = importlib.import_module(name)


def pages(path):
    """Returns the number of pages of a file, -1 if the library fails."""
    try:
        if name == "pypdf":
            list_of_pages = library.PdfReader(path).pages
            for page in list_of_pages:
                page.extract_text()
            return len(list_of_pages)
        with library.open(path) as document:
            for page in document:
                page.get_text("words")
            return len(document)
    except Exception:  # each library has its own exceptions
        return -1


def main():
    if name == "pymupdf":
        library.TOOLS.mupdf_display_errors(False)
    with multiprocessing.get_context("fork").Pool(int(sys.argv[2])) as pool:
        began = time.monotonic()
        counts = pool.map(pages, sys.argv[3:], chunksize=1)
        took = time.monotonic() - began
        pool.close()
        pool.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    json.dump(
        {
            "version": library.__version__,
            "pages": sum(max(n, 0) for n in counts),
            "failed": sum(n < 0 for n in counts),
            "seconds": took,
            "cpu": used.ru_utime + used.ru_stime,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
