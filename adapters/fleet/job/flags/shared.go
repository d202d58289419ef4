package flags

import "github.com/berth-project/berth/adapters/fleet/job"

// Nodes reads names of nodes as --nodelist does: with commas, and "n[01-03]" for n01, n02
// and n03. Other commands that take nodes call it.
func Nodes(value string) ([]string, error) { return expandNodes(value) }

// Conditions reads conditions on labels as --constraint does, with "&" between them.
func Conditions(value string) ([]job.Constraint, error) { return conditions(value) }
