package extpoints

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Point is an extension point by its name, which is that of the method (Less and
// GeneratePlacements apart): "Filter", "QueueSort". [Points] lists them.
type Point string

// contract is a point, or something optional that a plugin may add to one, and the
// interface that serves it.
type contract struct {
	name  string
	iface reflect.Type
}

func contractOf[P Plugin](name string) contract { return contract{name, reflect.TypeFor[P]()} }

// points is the one table of the extension points, in the order of a workload's
// way through the engine, and then of a group's.
var points = []contract{
	contractOf[PreEnqueuePlugin]("PreEnqueue"),
	contractOf[QueueSortPlugin]("QueueSort"),
	contractOf[PreFilterPlugin]("PreFilter"),
	contractOf[FilterPlugin]("Filter"),
	contractOf[PostFilterPlugin]("PostFilter"),
	contractOf[PreScorePlugin]("PreScore"),
	contractOf[ScorePlugin]("Score"),
	contractOf[ReservePlugin]("Reserve"),
	contractOf[PermitPlugin]("Permit"),
	contractOf[PreBindPlugin]("PreBind"),
	contractOf[BindPlugin]("Bind"),
	contractOf[PostBindPlugin]("PostBind"),
	contractOf[PlacementGeneratePlugin]("PlacementGenerate"),
	contractOf[PlacementFeasiblePlugin]("PlacementFeasible"),
	contractOf[PlacementScorePlugin]("PlacementScore"),
	contractOf[GroupPostFilterPlugin]("GroupPostFilter"),
}

// additions is what a plugin may add; see the package comment.
var additions = []contract{
	contractOf[PreFilterExtensions]("PreFilterExtensions"),
	contractOf[ScoreNormalizer]("ScoreNormalizer"),
	contractOf[PlacementScoreNormalizer]("PlacementScoreNormalizer"),
	contractOf[EnqueueExtensions]("EnqueueExtensions"),
	contractOf[SignPlugin]("SignPlugin"),
	contractOf[NodeLocalPlugin]("NodeLocalPlugin"),
	contractOf[SlotPlugin]("SlotPlugin"),
	contractOf[CompanionsPlugin]("CompanionsPlugin"),
}

// Points lists the extension points, in the order of a workload's way through the
// engine, and then of a group's.
func Points() []Point {
	list := make([]Point, len(points))
	for i := range points {
		list[i] = Point(points[i].name)
	}
	return list
}

// Serves reports whether the plugin implements the point's interface, and does not
// say as a [Selective] that it leaves the point out. False for a point that does
// not exist.
func (p Point) Serves(plugin Plugin) bool {
	c, ok := p.contract()
	return ok && plugin != nil && reflect.TypeOf(plugin).Implements(c.iface) && selects(plugin, c.name)
}

// Selective is implemented by plugins whose type has more methods than the value
// serves: those that stand for another plugin, which is known only when they are made.
// Without it a plugin serves all whose methods it has.
type Selective interface {
	// Selects reports whether the plugin serves what has the name: one of [Points], or
	// one of the optional interfaces PreFilterExtensions, ScoreNormalizer,
	// PlacementScoreNormalizer, EnqueueExtensions and SignPlugin. It is called when
	// the engine is made, and always says the same.
	Selects(name string) bool
}

// selects reports whether the plugin serves what it has the methods of.
func selects(plugin Plugin, name string) bool {
	s, ok := plugin.(Selective)
	return !ok || s.Selects(name)
}

// As returns the plugin as a P, an interface of this package, if it serves it: a point, or
// one of the optional interfaces that [Selective] names.
func As[P Plugin](plugin Plugin) (p P, ok bool) {
	if p, ok = plugin.(P); !ok {
		return p, false
	}
	iface := reflect.TypeFor[P]()
	for _, table := range [][]contract{points, additions} {
		for _, c := range table {
			if c.iface == iface && !selects(plugin, c.name) {
				var none P
				return none, false
			}
		}
	}
	return p, true
}

func (p Point) contract() (contract, bool) {
	for _, c := range points {
		if c.name == string(p) {
			return c, true
		}
	}
	return contract{}, false
}

// CheckPlugin says why the plugin would not be asked what its author means it to be
// asked: it serves no point at all, a method has a point's name but not its
// signature, or of the methods that belong together some are missing. It is called
// by the engine when it is made, once for each plugin, and lists every problem.
func CheckPlugin(p Plugin) []error {
	t := reflect.TypeOf(p)
	var problems []error
	serves := false
	for _, c := range points {
		serves = serves || Point(c.name).Serves(p)
		problems = append(problems, c.almost(t)...)
	}
	for _, c := range additions {
		problems = append(problems, c.almost(t)...)
	}
	if !serves && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%v serves no extension point", t))
	}
	return problems
}

// almost lists what keeps the type from the interface, where it has any of the
// methods that the interface alone asks for.
func (c contract) almost(t reflect.Type) []error {
	has := func(method string) bool {
		_, ok := t.MethodByName(method)
		return ok || onPointer(t, method)
	}
	if t.Implements(c.iface) || !slices.ContainsFunc(ownMethods()[c.iface], has) {
		return nil
	}
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(c.name+": "+format, args...)) }
	for i := range c.iface.NumMethod() {
		want := c.iface.Method(i)
		got, ok := t.MethodByName(want.Name)
		switch {
		case !ok && onPointer(t, want.Name):
			bad("%s has a pointer receiver, so New must return a *%v", want.Name, t)
		case !ok:
			bad("%s is missing", want.Name)
		case signature(got.Type, 1) != signature(want.Type, 0):
			bad("%s is func%s, and must be func%s", want.Name, signature(got.Type, 1), signature(want.Type, 0))
		}
	}
	return problems
}

// ownMethods is by contract the methods that belong to it and to no other: Name belongs to all
// plugins, and Score is no sign of a [ScoreNormalizer].
var ownMethods = sync.OnceValue(func() map[reflect.Type][]string {
	own := make(map[reflect.Type][]string)
	all := slices.Concat(points, additions)
	for _, c := range all {
		for i := range c.iface.NumMethod() {
			name := c.iface.Method(i).Name
			shared := slices.ContainsFunc(all, func(other contract) bool {
				_, there := other.iface.MethodByName(name)
				return there && other.iface != c.iface && !other.iface.Implements(c.iface)
			})
			if !shared {
				own[c.iface] = append(own[c.iface], name)
			}
		}
	}
	return own
})

func onPointer(t reflect.Type, method string) bool {
	if t.Kind() == reflect.Pointer {
		return false
	}
	_, ok := reflect.PointerTo(t).MethodByName(method)
	return ok
}

// signature is the function's type as Go writes it, the first skipped parameters
// left out.
func signature(f reflect.Type, skipped int) string {
	var in, out []string
	for i := skipped; i < f.NumIn(); i++ {
		in = append(in, f.In(i).String())
	}
	for i := range f.NumOut() {
		out = append(out, f.Out(i).String())
	}
	text := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	}
	return text + " (" + strings.Join(out, ", ") + ")"
}
