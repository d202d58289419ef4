package helper

import (
	"fmt"

	"github.com/berth-project/berth/model"
)

// Problems collects everything that is wrong with a plugin's arguments, so that
// its user hears of all of it at once. The zero value is ready to use.
type Problems struct {
	list []model.Problem
}

// Addf notes a problem of the field, named by its path from the top of the
// arguments in the spelling of [model.Problem], for example
// "strategy.resources[1].weight".
func (p *Problems) Addf(field, format string, args ...any) {
	p.list = append(p.list, model.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Err returns nil where there are no problems, else a [*model.ValidationError]
// that names the plugin and lists them all in the order in which they were
// noted.
func (p *Problems) Err(plugin string) error {
	if len(p.list) == 0 {
		return nil
	}
	return &model.ValidationError{Object: fmt.Sprintf("arguments of plugin %q", plugin), Problems: p.list}
}
