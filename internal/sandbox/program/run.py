"""Runs code.py in the working folder. As in a notebook, it prints the value of the last
expression and saves the figures that are open at the end."""
import ast
import linecache
import sys
import traceback

source = open("/program/code.py", encoding="utf-8").read()
linecache.cache["code.py"] = (len(source), None, source.splitlines(True), "code.py")
sys.path[0] = "/work"
sys.path.append("/program")
sys.argv = ["code.py"]
names = {"__name__": "__main__", "__builtins__": __builtins__}


def run():
    tree = ast.parse(source, "code.py")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "code.py", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "code.py", "eval"), names)
        if value is not None:
            print(value if isinstance(value, str) else repr(value))


status = 0
try:
    run()
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else int(end.code is not None)
    if status and not isinstance(end.code, int):
        print(end.code, file=sys.stderr)
except BaseException as error:
    status = 1
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != "code.py":
        trace = trace.tb_next  # leave this file out
    traceback.print_exception(type(error), error, trace)
if "matplotlib.pyplot" in sys.modules:
    import cairn_figures

    cairn_figures.save_open()
sys.stdout.flush()
sys.exit(status)
