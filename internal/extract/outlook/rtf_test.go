package outlook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/outlook"
	"github.com/cairn-rag/cairn/internal/extract/outlook/outlooktest"
)

func TestTextOfRTF(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, rtf, want string }{
		{"a character of two units", `{\rtf1 ok \u-10179?\u-8704? done}`, "ok 😀 done\n"},
		{"a character of two units, as positive numbers", `{\rtf1 ok \u55357?\u56832? done}`, "ok 😀 done\n"},
		{"a character of two units without substitutes", `{\rtf1\uc0 ok \u-10179\u-8704  done}`, "ok 😀 done\n"},
		{"a character of two units in groups of their own", `{\rtf1 ok {\u-10179?}{\u-8704?} done}`, "ok 😀 done\n"},
		{"a character of two units with substitutes in hexadecimal", `{\rtf1\uc2 ok \u-10179\'3f\'3f\u-8704\'3f\'3f done}`, "ok 😀 done\n"},
		{"half a character", `{\rtf1 ok \u-10179? done}`, "ok \ufffd done\n"},
		{"the second half of a character", `{\rtf1 ok \u-8704? done}`, "ok \ufffd done\n"},
		{"a page with a character of two units", `{\rtf1\fromhtml1{\*\htmltag64 <p>}ok \u-10179?\u-8704? done{\*\htmltag72 </p>}}`, "ok 😀 done\n"},
		{"a font that is the usual one", `{\rtf1\ansi\deff1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}\'cd\'e0\'f1\'ee\'f1}`, "Насос\n"},
		{"the usual font again", `{\rtf1\ansi\deff1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}\f0 f\'fcr \plain \'cd\'e0\'f1\'ee\'f1}`, "für Насос\n"},
		{"a character set of a font in Japanese", `{\rtf1\ansi{\fonttbl{\f0\fcharset128 Gothic;}}\f0\'83\'7c\'83\'93\'83v}`, "ポンプ\n"},
		{"a picture", `{\rtf1 before{\pict\pngblip 89504e47}{\*\shppict{\pict 00}} after}`, "before after\n"},
		{"a link", `{\rtf1 see {\field{\*\fldinst HYPERLINK "https://example.com"}{\fldrslt the page}}}`, "see the page\n"},
		{"hidden text", `{\rtf1 seen{\v  unseen}\v0  too}`, "seen too\n"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			for form, pack := range map[string]func(string) []byte{"compressed": packed, "plain": plainRTF} {
				message := outlooktest.Object(outlooktest.Root, map[uint32]any{0x0037: "Subject", 0x1009: pack(tc.rtf)})
				result, err := outlook.Read(source(t, outlooktest.Compound(message)))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff("Subject: Subject\n"+tc.want, textOf(result)); diff != "" {
					t.Error(form, diff)
				}
			}
		})
	}
}
