package house

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEachRuleSeesWhatBreaksIt plants one small module per case, as
// "room/file.go" to its text, and names what the rule must say of it: nothing,
// or one line per fault in the order of the rooms.
func TestEachRuleSeesWhatBreaksIt(t *testing.T) {
	const loom = modulePath
	for _, tc := range []struct {
		name  string
		rule  func([]pkg) []string
		files map[string]string
		want  []string
	}{
		{
			name:  "a room of the table is known",
			rule:  knownRooms,
			files: map[string]string{"label/a.go": "package label", "loom.go": "package loom"},
		},
		{
			name:  "a package without a place",
			rule:  knownRooms,
			files: map[string]string{"memory/a.go": "package memory"},
			want:  []string{"memory: the house has no such room; add it to theHouse in internal/house/table_test.go, above everything it imports and below everything that imports it"},
		},
		{
			name: "imports that point down",
			rule: importsPointDown,
			files: map[string]string{
				"run/a.go":                    `package run; import _ "` + loom + `/effect"; import _ "` + loom + `/internal/xdg"; import _ "os"`,
				"model/chat/a.go":             `package chat; import _ "` + loom + `/model"`,
				"cmd/loom/a.go":               `package main; import _ "` + loom + `/internal/cli"`,
				"loom.go":                     `package loom; import _ "` + loom + `/broker"`,
				"model/modeltest/replay/a.go": `package main; import _ "` + loom + `/model/modeltest"`,
			},
		},
		{
			name: "tools import each other in any order",
			rule: importsPointDown,
			files: map[string]string{
				"internal/document/a.go":   `package document; import _ "` + loom + `/internal/version"`,
				"internal/atomicfile/a.go": `package atomicfile; import _ "` + loom + `/internal/xdg"`,
			},
		},
		{
			name: "a tool that imports a room above the tools",
			rule: importsPointDown,
			files: map[string]string{
				"internal/xdg/a.go": "package xdg\nimport _ \"" + loom + "/label\"",
			},
			want: []string{"internal/xdg/a.go:2: internal/xdg imports label, which stands above it (pure over tools)"},
		},
		{
			name:  "an import that points up",
			rule:  importsPointDown,
			files: map[string]string{"governor/a.go": "package governor\n\nimport \"" + loom + "/run\""},
			want:  []string{"governor/a.go:3: governor imports run, which stands above it (work over pure)"},
		},
		{
			name:  "an import that points up within a floor",
			rule:  importsPointDown,
			files: map[string]string{"protocol/a.go": `package protocol; import g "` + loom + `/governor"`},
			want:  []string{"protocol/a.go:1: protocol imports governor, which stands above it (pure over pure)"},
		},
		{
			name:  "a parent that imports its child",
			rule:  importsPointDown,
			files: map[string]string{"model/a.go": `package model; import "` + loom + `/model/chat"`},
			want:  []string{"model/a.go:1: model imports model/chat, which stands above it (ports over ports)"},
		},
		{
			name:  "an import that points up in a file for another platform",
			rule:  importsPointDown,
			files: map[string]string{"label/a_windows.go": `package label; import "` + loom + `/store"`},
			want:  []string{"label/a_windows.go:1: label imports store, which stands above it (ports over pure)"},
		},
		{
			name:  "an import of a package without a place",
			rule:  importsPointDown,
			files: map[string]string{"run/a.go": `package run; import "` + loom + `/memory"`},
			want:  []string{"run/a.go:1: run imports memory, which has no place in the house"},
		},
		{
			name: "main and the manual pages import the command line and nothing else",
			rule: importsPointDown,
			files: map[string]string{
				"cmd/loom/a.go":              `package main; import "` + loom + `/run"`,
				"internal/cli/manpages/a.go": `package main; import "` + loom + `/catalog"`,
				"internal/house/a.go":        `package house; import "` + loom + `/label"`,
			},
			want: []string{
				"cmd/loom/a.go:1: cmd/loom imports run, but may import only internal/cli",
				"internal/cli/manpages/a.go:1: internal/cli/manpages imports catalog, but may import only internal/cli, internal/version",
				"internal/house/a.go:1: internal/house imports label, but may import only nothing of the module",
			},
		},
		{
			name: "the SDK and the command line stand side by side",
			rule: importsPointDown,
			files: map[string]string{
				"loom.go":           `package loom; import "` + loom + `/internal/cli"`,
				"internal/cli/a.go": `package cli; import "` + loom + `"`,
			},
			want: []string{
				"loom.go:1: . imports internal/cli, beside which it stands",
				"internal/cli/a.go:1: internal/cli imports ., which stands above it (faces over faces)",
			},
		},
		{
			name:  "built code that imports a test helper",
			rule:  importsPointDown,
			files: map[string]string{"run/a.go": `package run; import "` + loom + `/model/modeltest"`},
			want:  []string{"run/a.go:1: run imports model/modeltest, which is for tests only"},
		},
		{
			name:  "a test may import what it likes",
			rule:  importsPointDown,
			files: map[string]string{"label/a_test.go": `package label; import "` + loom + `/run"`},
		},

		{
			name: "pure packages that stay pure",
			rule: pureStaysPure,
			files: map[string]string{
				"label/a.go":      `package label; import ("fmt"; "time"); var _ = fmt.Sprint(time.Second)`,
				"label/a_test.go": `package label; import "os"; var _ = os.Args`,
				"governor/a.go":   `package governor; import _ "` + loom + `/protocol"`,
				// Names that only begin like one of the outside.
				"event/a.go": `package event; import _ "network"; import _ "oslo"`,
				"run/a.go":   `package run; import ("os"; "time"); var _ = os.Args; var _ = time.Now`,
				// A program beside the package, which a build tag keeps out of it.
				"label/gen.go": `package main; import "os"; var _ = os.Args`,
			},
		},
		{
			name: "every package of the outside",
			rule: pureStaysPure,
			files: map[string]string{
				"label/a.go": "package label\nimport _ \"os\"\nimport _ \"os/exec\"\nimport _ \"net\"\nimport _ \"net/http\"\nimport _ \"syscall\"\nimport _ \"database/sql\"\nimport _ \"io/fs\"\nimport _ \"math/rand\"\nimport _ \"math/rand/v2\"\nimport _ \"crypto/rand\"",
			},
			want: []string{
				"label/a.go:2: label is pure and reaches os (label > os)",
				"label/a.go:3: label is pure and reaches os/exec (label > os/exec)",
				"label/a.go:4: label is pure and reaches net (label > net)",
				"label/a.go:5: label is pure and reaches net/http (label > net/http)",
				"label/a.go:6: label is pure and reaches syscall (label > syscall)",
				"label/a.go:7: label is pure and reaches database/sql (label > database/sql)",
				"label/a.go:8: label is pure and reaches io/fs (label > io/fs)",
				"label/a.go:9: label is pure and reaches math/rand (label > math/rand)",
				"label/a.go:10: label is pure and reaches math/rand/v2 (label > math/rand/v2)",
				"label/a.go:11: label is pure and reaches crypto/rand (label > crypto/rand)",
			},
		},
		{
			name: "the outside reached through the module",
			rule: pureStaysPure,
			files: map[string]string{
				"event/a.go":            `package event; import _ "` + loom + `/internal/version"`,
				"internal/version/a.go": `package version; import _ "` + loom + `/internal/xdg"`,
				"internal/xdg/a.go":     `package xdg; import _ "os"`,
			},
			want: []string{"internal/xdg/a.go:1: event is pure and reaches os (event > internal/version > internal/xdg > os)"},
		},
		{
			name: "the outside reached by two ways is reported once",
			rule: pureStaysPure,
			files: map[string]string{
				"event/a.go":            `package event; import _ "` + loom + `/internal/version"; import _ "` + loom + `/internal/xdg"`,
				"internal/version/a.go": `package version; import _ "` + loom + `/internal/xdg"`,
				"internal/xdg/a.go":     `package xdg; import _ "os"`,
			},
			want: []string{"internal/xdg/a.go:1: event is pure and reaches os (event > internal/version > internal/xdg > os)"},
		},
		{
			name: "a clock, by its name, by another name, as a value and bare",
			rule: pureStaysPure,
			files: map[string]string{
				"governor/a.go": "package governor\nimport \"time\"\nvar a = time.Now()\nvar b = time.Since(a)\nfunc c() { time.Sleep(1) }",
				"governor/b.go": "package governor\nimport clock \"time\"\nvar now = clock.Now",
				"governor/c.go": "package governor\nimport . \"time\"\nvar d = Now()",
			},
			want: []string{
				"governor/a.go:3: governor is pure and names time.Now",
				"governor/a.go:4: governor is pure and names time.Since",
				"governor/a.go:5: governor is pure and names time.Sleep",
				"governor/b.go:3: governor is pure and names time.Now",
				"governor/c.go:2: governor is pure and names time.*",
			},
		},

		{
			name: "libraries imported by their keepers",
			rule: librariesKept,
			files: map[string]string{
				"internal/strictjson/a.go": `package strictjson; import _ "encoding/json/v2"; import _ "encoding/json/jsontext"`,
				"internal/strictyaml/a.go": `package strictyaml; import _ "go.yaml.in/yaml/v4"`,
				"model/a.go":               `package model; import _ "github.com/pelletier/go-toml/v2/unstable"; import _ "` + loom + `/label"`,
				"store/storetest/a.go":     `package storetest; import _ "github.com/google/go-cmp/cmp"; import _ "testing"`,
				"label/a_test.go":          `package label; import _ "pgregory.net/rapid"`,
			},
		},
		{
			name: "libraries imported by others",
			rule: librariesKept,
			files: map[string]string{
				"effect/a.go":   `package effect; import _ "encoding/json"`,
				"event/a.go":    `package event; import _ "encoding/json/v2"`,
				"label/a.go":    `package label; import _ "encoding/json/jsontext"`,
				"protocol/a.go": `package protocol; import _ "go.yaml.in/yaml/v4"`,
				"run/a.go":      `package run; import _ "github.com/pelletier/go-toml/v2"`,
			},
			want: []string{
				"effect/a.go:1: effect imports encoding/json, which only " + strings.Join(keepers["encoding/json"], ", ") + " may import",
				"event/a.go:1: event imports encoding/json/v2, which only " + strings.Join(keepers["encoding/json"], ", ") + " may import",
				"label/a.go:1: label imports encoding/json/jsontext, which only " + strings.Join(keepers["encoding/json"], ", ") + " may import",
				"protocol/a.go:1: protocol imports go.yaml.in/yaml/v4, which only internal/strictyaml may import",
				"run/a.go:1: run imports github.com/pelletier/go-toml/v2, which only model, internal/config may import",
			},
		},
		{
			name:  "a test library in built code",
			rule:  librariesKept,
			files: map[string]string{"label/a.go": `package label; import _ "pgregory.net/rapid"`},
			want:  []string{"label/a.go:1: label imports pgregory.net/rapid, which only tests may import"},
		},
		{
			name:  "a library nobody keeps",
			rule:  librariesKept,
			files: map[string]string{"label/a.go": `package label; import _ "example.com/yaml"`},
			want:  []string{"label/a.go:1: label imports example.com/yaml, which nobody keeps; describe it in docs/dependencies.md and add it to keepers in internal/house/table_test.go"},
		},

		{
			name: "files opened by the readers and writers",
			rule: filesOpenedInOnePlace,
			files: map[string]string{
				"internal/boundedfile/a.go": `package boundedfile; import "os"; var a, b, c = os.Open, os.OpenFile, os.ReadFile`,
				"internal/atomicfile/a.go":  `package atomicfile; import "os"; var a = os.OpenFile`,
				"store/storetest/a.go":      `package storetest; import "os"; var a = os.ReadFile`,
				"catalog/a_test.go":         `package catalog; import "os"; var a = os.ReadFile`,
				"catalog/a.go":              `package catalog; import "os"; var a = os.Getenv`,
				"run/a.go":                  `package run; type files struct{ Open, ReadFile int }; var os files; var a = os.Open + os.ReadFile`,
			},
		},
		{
			name: "files opened elsewhere",
			rule: filesOpenedInOnePlace,
			files: map[string]string{
				"catalog/a.go":             `package catalog; import "os"; var a = os.ReadFile`,
				"internal/atomicfile/a.go": `package atomicfile; import "os"; var a = os.ReadFile`,
				"internal/cli/a.go":        `package cli; import "os"; var a = os.Open`,
				"journal/a.go":             `package journal; import host "os"; func open() { host.OpenFile("", 0, 0) }`,
				"run/a.go":                 `package run; import . "os"; var a = Open`,
			},
			want: []string{
				"catalog/a.go:1: catalog names os.ReadFile; read through internal/boundedfile, write through internal/atomicfile",
				"internal/atomicfile/a.go:1: internal/atomicfile names os.ReadFile; read through internal/boundedfile, write through internal/atomicfile",
				"internal/cli/a.go:1: internal/cli names os.Open; read through internal/boundedfile, write through internal/atomicfile",
				"journal/a.go:1: journal names os.OpenFile; read through internal/boundedfile, write through internal/atomicfile",
				"run/a.go:1: run names os.*; read through internal/boundedfile, write through internal/atomicfile",
			},
		},

		{
			name: "names that say nothing",
			rule: namesSaySomething,
			files: map[string]string{
				"internal/util/a.go": "package util",
				"label/types/a.go":   "package labeltypes",
				"run/a.go":           "package helpers",
				"store/a.go":         "package store",
				"store/common/a.go":  "package common",
			},
			want: []string{
				"internal/util: a package called util says nothing about what it holds",
				"label/types: a package called types says nothing about what it holds",
				"run: a package called helpers says nothing about what it holds",
				"store/common: a package called common says nothing about what it holds",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.rule(planted(t, tc.files))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// planted describes a module from its files. A package is called as its first
// file says, in the order of file names.
func planted(t *testing.T, files map[string]string) []pkg {
	t.Helper()
	rooms := map[string]map[string]string{}
	for file, text := range files {
		room := path.Dir(file)
		if rooms[room] == nil {
			rooms[room] = map[string]string{}
		}
		rooms[room][path.Base(file)] = text
	}
	var pkgs []pkg
	for room, sources := range rooms {
		first := ""
		for file := range sources {
			if first == "" || file < first {
				first = file
			}
		}
		name := strings.TrimPrefix(strings.FieldsFunc(sources[first], func(r rune) bool { return r == '\n' || r == ';' })[0], "package ")
		p, err := describe(room, name, sources)
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	slices.SortFunc(pkgs, func(a, b pkg) int { return strings.Compare(a.room, b.room) })
	return pkgs
}

func TestDescribeRefusesWhatItCannotRead(t *testing.T) {
	if _, err := describe("label", "label", map[string]string{"a.go": "package label; import"}); err == nil {
		t.Error("a file that does not parse was described")
	}
}
