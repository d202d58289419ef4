package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// surface is how many names each package of the root module that an
// orchestrator imports may export: top-level names, and methods of exported
// types. Struct fields do not count, nor does String: it is the same promise everywhere,
// and nobody looks it up. A name is a promise from the first release
// on, so the numbers go down, or up with a reason in the commit.
var surface = map[string]int{"model": 318, "extpoints": 221, "queue": 116, "engine": 224}

func TestSurfaceIsSmall(t *testing.T) {
	t.Parallel()
	total := 0
	for pkg, most := range surface {
		names := exportedNames(t, "../"+pkg)
		total += len(names)
		if len(names) > most {
			t.Errorf("%s exports %d names, at most %d are promised", pkg, len(names), most)
		}
	}
	t.Logf("%d names in all", total)
}

// Every field of what a package exports that can be imported says what it is: a comment above it, or beside it.
func TestFieldsAreDocumented(t *testing.T) {
	oneGoroutine(t)
	fields, seen := 0, map[string]bool{}
	for _, path := range files(t, ".go") {
		dir := filepath.Dir(path)
		if seen[dir] || strings.Contains(path, "internal/") {
			continue
		}
		seen[dir] = true
		fields += undocumentedFields(t, "../"+dir, func(name string) { t.Errorf("%s has no comment", name) })
	}
	require.Greater(t, fields, 1500, "the test looks at all packages")
}

// undocumentedFields tells report of each exported field, of an exported type of the package in the
// folder, that has no comment. It returns how many fields it has looked at.
func undocumentedFields(t *testing.T, dir string, report func(name string)) (fields int) {
	t.Helper()
	paths, err := filepath.Glob(dir + "/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		require.NoError(t, err)
		if file.Name.Name == "main" {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				return true
			}
			of, ok := spec.Type.(*ast.StructType)
			if !ok {
				return false
			}
			for _, field := range of.Fields.List {
				for _, name := range field.Names {
					fields++
					if name.IsExported() && field.Doc == nil && field.Comment == nil {
						report(fset.Position(name.Pos()).String() + ": " + spec.Name.Name + "." + name.Name)
					}
				}
			}
			return false
		})
	}
	return fields
}

// What a package exports is declared there, or in another that can be imported: the documentation of an
// alias to an internal type shows neither its fields nor its methods.
func TestNothingInternalByAlias(t *testing.T) {
	oneGoroutine(t)
	aliases := 0
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "internal/") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "../"+path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Assign.IsValid() || !spec.Name.IsExported() {
				return true
			}
			aliases++
			ast.Inspect(spec.Type, func(n ast.Node) bool {
				of, ok := n.(*ast.SelectorExpr)
				if ok && isInternal(file, of) {
					t.Errorf("%s: %s is an alias to an internal type", fset.Position(spec.Pos()), spec.Name.Name)
				}
				return true
			})
			return false
		})
	}
	t.Logf("%d aliases", aliases)
}

// isInternal reports whether the name is that of an internal package of the file's imports.
func isInternal(file *ast.File, name *ast.SelectorExpr) bool {
	of, ok := name.X.(*ast.Ident)
	return ok && slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		imported := strings.Trim(i.Path.Value, `"`)
		called := imported[strings.LastIndex(imported, "/")+1:]
		if i.Name != nil {
			called = i.Name.Name
		}
		return called == of.Name && strings.Contains(imported+"/", "/internal/")
	})
}

// rawMethods is how many methods Raw may have: it takes the calls, and the parts below
// it do the work.
const rawMethods = 40

func TestRawIsTheWiring(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var methods []string
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv != nil && receiver(f.Recv.List[0].Type) == "Raw" && !strings.HasSuffix(path, "_test.go") {
				methods = append(methods, f.Name.Name)
			}
		}
	}
	require.NotEmpty(t, methods)
	require.LessOrEqual(t, len(methods), rawMethods, "%v", methods)
}

// exportedNames lists the exported names of the package in the folder, methods
// as Type.Method.
func exportedNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	add := func(prefix string, name *ast.Ident) {
		if name.IsExported() {
			names = append(names, prefix+name.Name)
		}
	}
	paths, err := filepath.Glob(dir + "/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add("", d.Name)
				} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) && d.Name.Name != "String" {
					add(of+".", d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						add("", s.Name)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							add("", name)
						}
					}
				}
			}
		}
	}
	return names
}

// receiver is the name of the type of a method's receiver.
func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
