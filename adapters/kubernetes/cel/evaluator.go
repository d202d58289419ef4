package cel

import (
	"context"
	"fmt"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// features are those of the gates that are on in 1.37: DRAConsumableCapacity is,
// DRAListTypeAttributes is not.
var features = dracel.Features{EnableConsumableCapacity: true}

// maxPrograms is how many compiled expressions are kept; beyond that all are
// forgotten. A cluster has a few in its classes, and those of the claims, most of
// which are made of a few templates. (The scheduler keeps the last 10.)
const maxPrograms = 1000

// Evaluator implements [allocator.Evaluator]. It remembers the expressions that
// it has compiled, and of those that are wrong the errors. Its methods may be
// called from any goroutine; one that asks for an expression which another
// compiles waits for it.
type Evaluator struct {
	compiler compiler
	mu       sync.RWMutex
	programs map[string]*program
}

var _ allocator.Evaluator = (*Evaluator)(nil)

// compiler is the one of the library, which has no name there.
type compiler interface {
	CompileCELExpression(expression string, options dracel.Options) dracel.CompilationResult
}

// New makes an evaluator. It takes some milliseconds, for the environment.
func New() *Evaluator {
	return &Evaluator{compiler: dracel.GetCompiler(features), programs: map[string]*program{}}
}

// program is an expression that is compiled once.
type program struct {
	once   sync.Once
	result dracel.CompilationResult
}

// Evaluate reports whether the expression is true for the device of the driver.
// The error says that the expression cannot be compiled, and is an
// [*allocator.ExpressionError] then, or that it cannot be evaluated for the
// device. The texts are those of the scheduler, from "CEL" on.
//
// Rules: k8s.io/dynamic-resource-allocation structured/internal/incubating/
// allocator_incubating.go (selectorsMatch), v0.37.1.
func (e *Evaluator) Evaluate(expression, driver string, device *model.SliceDevice) (bool, error) {
	p := e.program(expression)
	p.once.Do(func() {
		// Costs are estimated to refuse expressions; this one is let in.
		p.result = e.compiler.CompileCELExpression(expression, dracel.Options{DisableCostEstimation: true})
	})
	if p.result.Error != nil {
		return false, &allocator.ExpressionError{Err: fmt.Errorf("CEL compile error: %w", p.result.Error)}
	}
	matches, _, err := p.result.DeviceMatches(context.Background(), input(driver, device))
	if err != nil {
		return false, fmt.Errorf("CEL runtime error: %w", dracel.EnhanceRuntimeError(err))
	}
	return matches, nil
}

// program is that of the expression, which need not be compiled yet.
func (e *Evaluator) program(expression string) *program {
	e.mu.RLock()
	p := e.programs[expression]
	e.mu.RUnlock()
	if p != nil {
		return p
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if p = e.programs[expression]; p == nil {
		if len(e.programs) >= maxPrograms {
			clear(e.programs)
		}
		p = &program{}
		e.programs[expression] = p
	}
	return p
}

// input is the device as the library wants it.
func input(driver string, d *model.SliceDevice) dracel.Device {
	in := dracel.Device{Driver: driver, AllowMultipleAllocations: &d.Shared}
	if len(d.Attributes) > 0 {
		in.Attributes = make(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, len(d.Attributes))
		for name, a := range d.Attributes {
			in.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{
				IntValue: a.Int, BoolValue: a.Bool, StringValue: a.String, VersionValue: a.Version,
			}
		}
	}
	if len(d.Capacity) > 0 {
		in.Capacity = make(map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, len(d.Capacity))
		for name, c := range d.Capacity {
			in.Capacity[resourcev1.QualifiedName(name)] = resourcev1.DeviceCapacity{Value: convert.DeviceQuantity(c.Amount)}
		}
	}
	return in
}
