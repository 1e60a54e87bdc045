// Package browser runs the scripts of web pages in a headless Chromium and returns the
// documents that they make. The pages are hostile, so nothing is left to Chromium's own
// settings: it runs in bubblewrap, as a user that owns nothing, without the files of the
// machine, and in a network of its own that has no way out. Its only connections are
// those to proxies of this package, one for each page, which dial like everything else
// that users name (safedial). The worker speaks with it over two pipes (chromedp needs a
// TCP port, which other processes and pages could reach too).
//
// One Chromium serves all pages of a process. It is started by the first page, and ended
// when it is idle, uses too much memory, or its parent dies.
//
// The package extracts no text.
package browser
