package twin

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// sortedScalars are those that are not zero, by name.
func sortedScalars(list []model.Scalar) []model.Scalar {
	list = slices.DeleteFunc(slices.Clone(list), func(s model.Scalar) bool { return s.Amount == 0 })
	slices.SortFunc(list, func(a, b model.Scalar) int { return strings.Compare(a.Name, b.Name) })
	return list
}
