package scripts_test

import (
	"testing"

	"github.com/loomrun/loom/internal/scripts"
)

func TestIsUnspaced(t *testing.T) {
	for _, r := range "京あアー〆ｰㄅสກកမབꀀ" {
		if !scripts.IsUnspaced(r) {
			t.Errorf("%c is written with spaces", r)
		}
	}
	for _, r := range "aéд한שعह1 、🎉" {
		if scripts.IsUnspaced(r) {
			t.Errorf("%c is written without spaces", r)
		}
	}
}
