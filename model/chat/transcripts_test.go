package chat

import (
	"flag"
	"testing"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
)

var update = flag.Bool("update", false, "write testdata/*.want anew")

// Every recorded answer gives what stands under its name in the .want file beside it.
func TestTranscripts(t *testing.T) {
	recordings := modeltest.ReadRecordings(t, "testdata")
	for _, name := range modeltest.RecordedNames() {
		recordings[name] = modeltest.Recorded(t, name)
	}
	modeltest.CheckTranscripts(t, recordings, *update, func(t *testing.T, baseURL string) model.Client {
		c, err := New(modeltest.BindingTo(baseURL, model.ChatCompletions))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	})
}
