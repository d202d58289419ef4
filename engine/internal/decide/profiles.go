package decide

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Profiles are the compiled profiles of an engine. They do not change.
type Profiles struct {
	first  *framework.Framework
	byName map[string]*framework.Framework
}

// NewProfiles compiles the profiles. The error lists every problem of all of them.
func NewProfiles(list []extpoints.Profile, env framework.Env) (*Profiles, error) {
	p := &Profiles{byName: make(map[string]*framework.Framework, len(list))}
	var problems []error
	var sort string
	for i := range list {
		f, err := framework.New(list[i], env)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if i == 0 {
			p.first, sort = f, f.QueueSort().Name()
		} else if name := f.QueueSort().Name(); sort != "" && name != sort {
			problems = append(problems, fmt.Errorf("profile %q: QueueSort: all profiles need the same plugin, got %q beside %q", list[i].Name, name, sort))
		}
		p.byName[list[i].Name] = f
	}
	return p, errors.Join(problems...)
}

// Of returns the profile that the workload chose, the first where it names none, nil
// for an unknown one.
func (p *Profiles) Of(w *model.Workload) *framework.Framework {
	if w.Profile == "" {
		return p.first
	}
	return p.byName[w.Profile]
}

// Missing is the error of a workload whose profile there is not, nil where there is.
func (p *Profiles) Missing(w *model.Workload) error {
	if p.Of(w) != nil {
		return nil
	}
	return fmt.Errorf("there is no profile %q", w.Profile)
}

// First is the profile of workloads that name none.
func (p *Profiles) First() *framework.Framework { return p.first }

// ByName has the profiles by name. It must not be changed.
func (p *Profiles) ByName() map[string]*framework.Framework { return p.byName }
