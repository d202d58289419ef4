package engine_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package reads from its low files to its high ones where each file uses names of
// lower files only. An arrow is one file that uses names which another declares: what
// is declared in the scope of the package, and methods. It goes up where the other
// file is higher.
//
// Floors: circles are broken first, by leaving out arrows, as few and as thin as a
// simple rule finds. Files that use no others are taken from below, those that no
// others use from above; where neither is left, the file goes above for which the
// names that it uses outnumber most those that others use of it, the first by name of
// several. Arrows against that order are left out. The floor of a file is then the
// longest way down from it, and the arrows that were left out are those that go up.
const (
	upInAPackage = 5
	upInAll      = 20
)

func TestFilesHaveFloors(t *testing.T) {
	oneGoroutine(t)
	total := 0
	for _, p := range goList(t, "./...") {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		up := arrowsUp(arrowsIn(t, filepath.Join("..", name)))
		total += len(up)
		if len(up) > upInAPackage {
			t.Errorf("%s: %d arrows between its files go up, at most %d may:\n\t%s", name, len(up), upInAPackage, strings.Join(up, "\n\t"))
		}
	}
	require.LessOrEqual(t, total, upInAll, "arrows that go up in all packages")
}

// arrows has for each file the names that it uses of each other.
type arrows map[string]map[string][]string

// arrowsIn returns the arrows between the files of the package in the folder, tests aside.
// Imports are not followed: what a name of another package is does not matter here.
func arrowsIn(t *testing.T, dir string) arrows {
	t.Helper()
	p, err := build.ImportDir(dir, 0)
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: emptyPackages{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, fset, files, info)
	graph := arrows{}
	for _, name := range p.GoFiles {
		graph[name] = map[string][]string{}
	}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !ofPackage(pkg, o) {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(o.Pos()).Filename)
		if from != to && !slices.Contains(graph[from][to], o.Name()) {
			graph[from][to] = append(graph[from][to], o.Name())
		}
	}
	return graph
}

// ofPackage reports whether the object is in the scope of the package, or is a method.
func ofPackage(pkg *types.Package, o types.Object) bool {
	f, is := o.(*types.Func)
	return o.Parent() == pkg.Scope() || is && f.Signature().Recv() != nil
}

// emptyPackages is an importer to which every package is empty.
type emptyPackages struct{}

var _ types.Importer = emptyPackages{}

func (emptyPackages) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return importer.Default().Import(path)
	}
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

// arrowsUp returns the arrows that go up, sorted.
func arrowsUp(graph arrows) []string {
	place := map[string]int{}
	for i, file := range inOrder(graph) {
		place[file] = i
	}
	var up []string
	for from, all := range graph {
		for to, names := range all {
			if place[to] > place[from] {
				slices.Sort(names)
				up = append(up, fmt.Sprintf("%s uses %s: %s", from, to, strings.Join(names, ", ")))
			}
		}
	}
	slices.Sort(up)
	return up
}

// inOrder returns the files from below to above. An arrow goes up where it goes up in
// this order: the floors by the longest way down agree with it for all other arrows.
func inOrder(graph arrows) []string {
	left := slices.Sorted(maps.Keys(graph))
	// weigh counts the names that the file uses of those left, and those of it that they use.
	weigh := func(file string) (out, in int) {
		for _, other := range left {
			out += len(graph[file][other])
			in += len(graph[other][file])
		}
		return out, in
	}
	var below, above []string
	for len(left) > 0 {
		next, low := "", false
		for _, file := range left {
			if out, in := weigh(file); out == 0 || in == 0 {
				next, low = file, out == 0
				break
			}
		}
		if next == "" {
			next = slices.MaxFunc(slices.Clone(left), func(a, b string) int {
				outA, inA := weigh(a)
				outB, inB := weigh(b)
				return cmp.Or(cmp.Compare(outA-inA, outB-inB), cmp.Compare(b, a))
			})
		}
		if low {
			below = append(below, next)
		} else {
			above = append(above, next)
		}
		left = slices.DeleteFunc(left, func(file string) bool { return file == next })
	}
	slices.Reverse(above)
	return append(below, above...)
}
