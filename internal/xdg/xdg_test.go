package xdg_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/xdg"
)

// 2.5, case 42: which variable counts, and what it may not be.
func TestWhereAPersonsFilesLive(t *testing.T) {
	for _, c := range []struct {
		what string
		give func(xdg.Lookup) (string, error)
		env  map[string]string
		want string // the path, or what the error says
	}{
		{"data of its own variable", xdg.Data, map[string]string{"XDG_DATA_HOME": "/d", "HOME": "/h"}, "/d/loom"},
		{"config of its own variable", xdg.Config, map[string]string{"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/loom"},
		{"state of its own variable", xdg.State, map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/loom"},
		{"data below HOME", xdg.Data, map[string]string{"HOME": "/h"}, "/h/.local/share/loom"},
		{"config below HOME", xdg.Config, map[string]string{"HOME": "/h"}, "/h/.config/loom"},
		{"state below HOME", xdg.State, map[string]string{"HOME": "/h"}, "/h/.local/state/loom"},
		{"an empty variable counts as unset", xdg.Data, map[string]string{"XDG_DATA_HOME": "", "HOME": "/h"}, "/h/.local/share/loom"},
		{"HOME is not looked at where it is not used", xdg.Data, map[string]string{"XDG_DATA_HOME": "/d", "HOME": "h"}, "/d/loom"},
		{"HOME is not needed where it is not used", xdg.Data, map[string]string{"XDG_DATA_HOME": "/d"}, "/d/loom"},
		{"repeated and final slashes", xdg.Data, map[string]string{"XDG_DATA_HOME": "//d/./x//"}, "/d/x/loom"},
		{"two dots in a name are a name", xdg.Data, map[string]string{"XDG_DATA_HOME": "/a..b/..c"}, "/a..b/..c/loom"},
		{"a relative variable", xdg.Data, map[string]string{"XDG_DATA_HOME": "d", "HOME": "/h"}, `XDG_DATA_HOME is "d", which is no absolute path`},
		{"a tilde is no home", xdg.Data, map[string]string{"XDG_DATA_HOME": "~/d", "HOME": "/h"}, `XDG_DATA_HOME is "~/d", which is no absolute path`},
		{"a relative HOME", xdg.State, map[string]string{"HOME": "h"}, `HOME is "h", which is no absolute path`},
		{"a parent in the middle", xdg.Config, map[string]string{"XDG_CONFIG_HOME": "/a/../b"}, `XDG_CONFIG_HOME is "/a/../b"; a path with ".." is not taken`},
		{"a parent at the end", xdg.Data, map[string]string{"XDG_DATA_HOME": "/a/.."}, `a path with ".." is not taken`},
		{"a parent in HOME", xdg.Data, map[string]string{"HOME": "/../h"}, `HOME is "/../h"; a path with ".." is not taken`},
		{"neither variable", xdg.Data, nil, "neither XDG_DATA_HOME nor HOME is set"},
		{"both empty", xdg.State, map[string]string{"XDG_STATE_HOME": "", "HOME": ""}, "neither XDG_STATE_HOME nor HOME is set"},
	} {
		got, err := c.give(func(name string) (string, bool) {
			value, set := c.env[name]
			return value, set
		})
		if strings.HasPrefix(c.want, "/") && (got != c.want || err != nil) {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, c.want)
		}
		if !strings.HasPrefix(c.want, "/") && (got != "" || err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v; want the error %q", c.what, got, err, c.want)
		}
	}
}
