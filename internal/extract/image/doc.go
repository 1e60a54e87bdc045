// Package image reads PNG, JPEG, GIF, TIFF, WebP and BMP files: the text that is recognised in
// each page, with its boxes, and the picture itself as an asset, which a model may
// describe. A pixel is a point unless the file states its resolution.
package image
