package main

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const profile = `mode: atomic
github.com/loomrun/loom/label/atom.go:10.30,12.2 1 4
github.com/loomrun/loom/label/atom.go:12.2,14.3 2 0
github.com/loomrun/loom/label/atom.go:9.1,9.20 1 0
github.com/loomrun/loom/label/atom.go:20.1,20.3 0 0
github.com/loomrun/loom/label/wire/wire.go:3.1,5.2 1 0
github.com/loomrun/loom/protocol/read.go:7.1,8.2 1 0
github.com/loomrun/loom/protocol/read.go:7.1,8.2 1 3
github.com/loomrun/loom/loom.go:5.1,6.2 1 0
`

func TestUncovered(t *testing.T) {
	for _, tc := range []struct {
		name     string
		packages []string
		want     []string
	}{
		{
			"blocks in the order of the source, without empty ones and those of packages below",
			[]string{"./label"},
			[]string{"label/atom.go:9.1-9.20", "label/atom.go:12.2-14.3"},
		},
		{"a block that one of two test programs ran", []string{"./protocol"}, nil},
		{"the root", []string{"."}, []string{"loom.go:5.1-6.2"}},
		{
			"a package the profile does not know, and one it does",
			[]string{"./labels", "./label/wire"},
			[]string{"labels: the profile has no statement of this package", "label/wire/wire.go:3.1-5.2"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := uncovered(strings.NewReader(profile), tc.packages)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUncoveredRefusesWhatIsNoProfile(t *testing.T) {
	for _, text := range []string{
		"github.com/loomrun/loom/label/atom.go:10.30,12.2 1 4\n",
		"mode: set\nno file here\n",
		"mode: set\nlabel/atom.go:10.30,12.2 1\n",
		"mode: set\nlabel/atom.go:10.30,12.x 1 4\n",
	} {
		if got, err := uncovered(strings.NewReader(text), []string{"./label"}); err == nil {
			t.Errorf("%q gave %q, want an error", text, got)
		}
	}
	cut := errors.New("cut")
	if _, err := uncovered(iotest.ErrReader(cut), []string{"./label"}); !errors.Is(err, cut) {
		t.Errorf("a profile cut short: got %v, want %v", err, cut)
	}
}

func TestAnEmptyProfileCoversNothing(t *testing.T) {
	got, err := uncovered(strings.NewReader(""), []string{"./label"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Errorf("got %q, want one line", got)
	}
}
