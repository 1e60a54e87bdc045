package epub

import (
	"bytes"

	"golang.org/x/net/html"
)

// picture is a picture that a chapter shows.
type picture struct{ source, text string }

// pictures returns the pictures of a chapter in order.
func pictures(chapter []byte) []picture {
	var found []picture
	z := html.NewTokenizer(bytes.NewReader(chapter))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if token.Data != "img" && token.Data != "image" {
				continue
			}
			var p picture
			for _, a := range token.Attr {
				switch a.Key {
				case "src", "href", "xlink:href":
					p.source = a.Val
				case "alt", "title":
					p.text = a.Val
				}
			}
			if p.source != "" {
				found = append(found, p)
			}
		}
	}
}
