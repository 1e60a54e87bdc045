"""A backend of matplotlib that draws into files. show() saves the open figures that the
code has not saved by itself."""
import os

from matplotlib import _pylab_helpers
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg


class FigureCanvas(FigureCanvasAgg):
    def print_figure(self, *args, **kwargs):
        self.figure.cairn_saved = True
        return super().print_figure(*args, **kwargs)


FigureManager = FigureManagerBase


def save_open():
    number = 1
    for manager in _pylab_helpers.Gcf.get_all_fig_managers():
        if getattr(manager.canvas.figure, "cairn_saved", False):
            continue
        while os.path.exists("figure-%d.png" % number):
            number += 1
        manager.canvas.figure.savefig("figure-%d.png" % number)


def show(*args, **kwargs):
    save_open()
    _pylab_helpers.Gcf.destroy_all()
