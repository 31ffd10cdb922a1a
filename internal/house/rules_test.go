package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

const modulePath = "github.com/loomrun/loom"

// pkg is what the rules know of one package: where it stands, what it is
// called, and what the files that are built into it import and name.
type pkg struct {
	room    string // path below the module; "." for the root
	name    string // as the package clauses say
	imports []mention
	names   []mention // of imported packages, as "import/path.Name"
}

// mention is one import path or one qualified name and where it is written.
type mention struct {
	what string
	at   string // file:line
}

// describe reads one package from its sources, a map from file name to text.
// Test files are left out, and so are files of another package than name (a
// generator kept out by a build tag). A file for another platform counts.
func describe(room, name string, sources map[string]string) (pkg, error) {
	p := pkg{room: room, name: name}
	files := make([]string, 0, len(sources))
	for file := range sources {
		files = append(files, file)
	}
	slices.Sort(files)
	fset := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(fset, path.Join(room, file), sources[file], parser.SkipObjectResolution)
		if err != nil {
			return pkg{}, err
		}
		if tree.Name.Name == name {
			p.read(fset, tree)
		}
	}
	return p, nil
}

// read adds what one file imports and which names of its imports it uses.
func (p *pkg) read(fset *token.FileSet, tree *ast.File) {
	at := func(n ast.Node) string {
		pos := fset.Position(n.Pos())
		return fmt.Sprintf("%s:%d", pos.Filename, pos.Line)
	}
	imported := map[string]string{} // local name to import path
	for _, spec := range tree.Imports {
		what, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it already
		}
		p.imports = append(p.imports, mention{what, at(spec)})
		switch {
		case spec.Name == nil:
			imported[path.Base(what)] = what
		case spec.Name.Name == ".":
			// The file then names the package's functions bare, where the
			// rules do not see them.
			p.names = append(p.names, mention{what + ".*", at(spec)})
		default:
			imported[spec.Name.Name] = what
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok {
			if what, ok := imported[x.Name]; ok {
				p.names = append(p.names, mention{what + "." + sel.Sel.Name, at(sel)})
			}
		}
		return true
	})
}

// roomOf gives the room an import path of this module names.
func roomOf(importPath string) (string, bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// covers reports whether entry is the import path or stands above it.
func covers(entry, importPath string) bool {
	return importPath == entry || strings.HasPrefix(importPath, entry+"/")
}

func coveredBy(entries []string, importPath string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return covers(entry, importPath) })
}

// place is where a room stands in a house.
type place struct {
	floor string
	rank  int // counted over the whole house from the ground up
}

func placesOf(house []floor) map[string]place {
	places := map[string]place{}
	for _, f := range house {
		for _, room := range f.rooms {
			places[room] = place{f.name, len(places)}
		}
	}
	return places
}

// knownRooms: every package has a place in the table.
func knownRooms(pkgs []pkg) []string {
	places := placesOf(theHouse)
	var broken []string
	for _, p := range pkgs {
		if _, ok := places[p.room]; !ok {
			broken = append(broken, fmt.Sprintf("%s: the house has no such room; add it to theHouse in internal/house/table_test.go, above everything it imports and below everything that imports it", p.room))
		}
	}
	return broken
}

// importsPointDown: a package imports only packages that stand below it.
func importsPointDown(pkgs []pkg) []string {
	places := placesOf(theHouse)
	var broken []string
	for _, p := range pkgs {
		here, ok := places[p.room]
		if !ok {
			continue // knownRooms reports it
		}
		only, narrowed := onlyImports[p.room]
		for _, imp := range p.imports {
			room, ok := roomOf(imp.what)
			if !ok {
				continue
			}
			there, known := places[room]
			reason := ""
			switch {
			case !known:
				reason = "which has no place in the house"
			case slices.Contains(testHelpers, room) && !slices.Contains(testHelpers, p.room):
				reason = "which is for tests only"
			case slices.Contains(neverImports[p.room], room):
				reason = "beside which it stands"
			case narrowed && !slices.Contains(only, room):
				reason = "but may import only " + orNothing(only)
			case here.floor == toolsFloor && there.floor == toolsFloor:
			case there.rank >= here.rank:
				reason = fmt.Sprintf("which stands above it (%s over %s)", there.floor, here.floor)
			}
			if reason != "" {
				broken = append(broken, fmt.Sprintf("%s: %s imports %s, %s", imp.at, p.room, room, reason))
			}
		}
	}
	return broken
}

func orNothing(rooms []string) string {
	if len(rooms) == 0 {
		return "nothing of the module"
	}
	return strings.Join(rooms, ", ")
}

// pureStaysPure: a pure room reaches nothing of the outside, by its own imports
// or through other packages of the module, and reads no clock.
func pureStaysPure(pkgs []pkg) []string {
	byRoom := map[string]pkg{}
	for _, p := range pkgs {
		byRoom[p.room] = p
	}
	var broken []string
	for _, room := range pureRooms {
		p, ok := byRoom[room]
		if !ok {
			continue
		}
		for _, name := range p.names {
			if slices.Contains(clock, name.what) || name.what == "time.*" {
				broken = append(broken, fmt.Sprintf("%s: %s is pure and names %s", name.at, room, name.what))
			}
		}
		broken = append(broken, reachesOutside(byRoom, p, []string{room}, map[string]bool{room: true})...)
	}
	return broken
}

// reachesOutside follows the imports of the last room of way, which began at a
// pure room, and reports each that leaves the module for the outside.
func reachesOutside(byRoom map[string]pkg, p pkg, way []string, seen map[string]bool) []string {
	var broken []string
	for _, imp := range p.imports {
		if coveredBy(outside, imp.what) {
			broken = append(broken, fmt.Sprintf("%s: %s is pure and reaches %s (%s)", imp.at, way[0], imp.what, strings.Join(append(slices.Clone(way), imp.what), " > ")))
		}
		room, ok := roomOf(imp.what)
		if !ok || seen[room] {
			continue
		}
		seen[room] = true
		if next, ok := byRoom[room]; ok {
			broken = append(broken, reachesOutside(byRoom, next, append(slices.Clone(way), room), seen)...)
		}
	}
	return broken
}

// librariesKept: a library is imported only by the rooms that keep it.
func librariesKept(pkgs []pkg) []string {
	var broken []string
	for _, p := range pkgs {
		for _, imp := range p.imports {
			if _, ours := roomOf(imp.what); ours {
				continue
			}
			if slices.Contains(testHelpers, p.room) && coveredBy(testLibraries, imp.what) {
				continue
			}
			rooms, kept := keepersOf(imp.what)
			switch {
			case kept && !slices.Contains(rooms, p.room):
				broken = append(broken, fmt.Sprintf("%s: %s imports %s, which only %s may import", imp.at, p.room, imp.what, strings.Join(rooms, ", ")))
			case !kept && coveredBy(testLibraries, imp.what):
				broken = append(broken, fmt.Sprintf("%s: %s imports %s, which only tests may import", imp.at, p.room, imp.what))
			case !kept && !standard(imp.what):
				broken = append(broken, fmt.Sprintf("%s: %s imports %s, which nobody keeps; describe it in docs/dependencies.md and add it to keepers in internal/house/table_test.go", imp.at, p.room, imp.what))
			}
		}
	}
	return broken
}

// keepersOf gives the rooms that keep the library an import path belongs to.
func keepersOf(importPath string) (rooms []string, kept bool) {
	for library, rooms := range keepers {
		if covers(library, importPath) {
			return rooms, true
		}
	}
	return nil, false
}

// standard reports whether an import path is of the standard library, whose
// first element has no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// filesOpenedInOnePlace: only the rooms listed in openers open files.
func filesOpenedInOnePlace(pkgs []pkg) []string {
	var broken []string
	for _, p := range pkgs {
		if slices.Contains(testHelpers, p.room) {
			continue
		}
		for _, name := range p.names {
			rooms, limited := openers[name.what]
			if name.what == "os.*" || limited && !slices.Contains(rooms, p.room) {
				broken = append(broken, fmt.Sprintf("%s: %s names %s; read through internal/boundedfile, write through internal/atomicfile", name.at, p.room, name.what))
			}
		}
	}
	return broken
}

// namesSaySomething: a package is named after what it holds.
func namesSaySomething(pkgs []pkg) []string {
	var broken []string
	for _, p := range pkgs {
		for _, name := range slices.Compact([]string{path.Base(p.room), p.name}) {
			if slices.Contains(emptyNames, name) {
				broken = append(broken, fmt.Sprintf("%s: a package called %s says nothing about what it holds", p.room, name))
			}
		}
	}
	return broken
}

// rule is a function from the module's packages to what is broken, one line each.
type rule struct {
	name  string
	check func([]pkg) []string
}

var rules = []rule{
	{"every package has its place", knownRooms},
	{"imports point down", importsPointDown},
	{"pure packages stay pure", pureStaysPure},
	{"libraries are imported by their keepers", librariesKept},
	{"files are opened in one place", filesOpenedInOnePlace},
	{"names say something", namesSaySomething},
}
