package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsolePlaysARecording opens a citation of a recording at the second of the quoted
// sentence, and goes to another one by the transcript.
func TestConsolePlaysARecording(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, transcribing(m)...)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	d := s.sendFiles(t, nil, file{"harbour.wav", silence(7)})[0]
	s.ended(t, d)
	s.wantPublished(t, d.ID)
	s.signInto(t, page)
	openCited(t, page, "When does the swing bridge open?")
	const said = `[...document.querySelectorAll(".transcript li")]`
	awaitPage(t, page, said+`.length > 1 && document.querySelector(".panel video").readyState > 0`)
	const at = `(time) => Math.abs(document.querySelector(".panel video").currentTime - time) < .3`
	awaitPage(t, page, `(`+at+`)(.5)`)
	if marked := evaluate[string](t, page, said+`.filter(l => l.classList.contains("marked")).map(l => l.textContent).join("|")`); marked != evaluate[string](t, page, said+`[0].textContent`) {
		t.Errorf("marked is %q", marked)
	}
	wantLooks(t, page)
	click(t, page, said+`.find(l => l.textContent.includes("Ferries")).querySelector("button")`)
	awaitPage(t, page, `document.querySelector(".panel video").currentTime >= 2.7`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// film is a WebM file of some seconds with a picture and a tone.
func film(t *testing.T, seconds string) []byte {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		const what = "this test makes a film; install ffmpeg (package ffmpeg)"
		if os.Getenv("CI") != "" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	path := filepath.Join(t.TempDir(), "film.webm")
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration="+seconds, "-f", "lavfi", "-i", "sine=duration="+seconds,
		"-c:v", "libvpx", "-c:a", "libopus", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestConsolePlaysAFilm opens a citation of a film: its picture is shown at the second of the
// quoted sentence, which the transcript marks.
func TestConsolePlaysAFilm(t *testing.T) {
	t.Parallel()
	page := browser(t)
	content := film(t, "7")
	m := standIn(t, modeltest.Options{})
	s := start(t, transcribing(m)...)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	d := s.sendFiles(t, nil, file{"harbour.webm", content})[0]
	s.ended(t, d)
	s.wantPublished(t, d.ID)
	s.signInto(t, page)
	openCited(t, page, "Where do ferries wait?")
	const video = `document.querySelector(".panel video")`
	awaitPage(t, page, video+`?.videoWidth === 160 && !`+video+`.seeking && Math.abs(`+video+`.currentTime - 2.75) < .3`)
	const marked = `[...document.querySelectorAll(".transcript li.marked")].map(l => l.textContent).join("|")`
	awaitPage(t, page, marked+`.includes("Ferries") && document.querySelectorAll(".transcript li").length > document.querySelectorAll(".transcript li.marked").length`)
	wantLooks(t, page)
	click(t, page, `document.querySelector(".transcript button")`)
	awaitPage(t, page, video+`.currentTime < 2.5`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}
