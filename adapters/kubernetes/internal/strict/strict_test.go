package strict_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/internal/strict"
)

type inner struct {
	Share float64 `json:"share"`
	Small int32   `json:"small,omitempty"`
	On    *bool   `json:"set"`
}

type document struct {
	metav1.TypeMeta `json:",inline"`
	Name            string                       `json:"name"`
	Wait            metav1.Duration              `json:"wait"`
	Amounts         map[string]resource.Quantity `json:"amounts"`
	Inner           *inner                       `json:"inner"`
	List            []inner                      `json:"list"`
	Key             []byte                       `json:"key"`
	Hidden          string                       `json:"-"`
}

func TestYAML(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // what is wrong
		rest string // the name, the wait, the amounts and the small numbers of the list
	}{
		{"kind: K\nname: a\nwait: 5m\namounts: {cpu: 500m, b: 2}\nlist: [{small: 1}]", "", "a 5m0s map[b:2 cpu:500m] [1]"},
		{"key: aGk=", "", " 0s map[] []"},
		{"key: '?'", "key: \"?\" is not base64", " 0s map[] []"},
		{"name: a\nwait:\namounts:\nlist:", "", "a 0s map[] []"},
		{"name: 5", "", "5 0s map[] []"},
		{"name: true", "", "true 0s map[] []"},
		{"Name: a\nHidden: b", "Hidden: unknown field, not one of amounts, apiVersion, inner, key, kind, list, name, wait\nName: unknown field, not one of amounts, apiVersion, inner, key, kind, list, name, wait", " 0s map[] []"},
		{"name: [a]\nwait: 7d\namounts: {cpu: x, b: 1}", "amounts[cpu]: \"x\" is not a quantity, such as 2, 500m or 16Gi\nname: [\"a\"] is not a text\nwait: \"7d\" is not a duration, such as 90s, 10m or 168h", " 0s map[b:1] []"},
		{"amounts: 3\ninner: []\nlist: {}", "amounts: 3 is not an object with names and values\ninner: [] is not an object with fields\nlist: {} is not a list", " 0s map[] []"},
		{"list: [{small: 3000000000}, x, {small: 2, set: 1, share: few}]", "list[0].small: 3000000000 is not a whole number of at most 32 bits\nlist[1]: \"x\" is not an object with fields\n" +
			"list[2].set: 1 is not true or false\nlist[2].share: \"few\" is not a number", " 0s map[] [0 0 2]"},
		{"name: a\nname: b\nlist: [{small: 1, small: 2}]", "line 2: key \"name\" already set in map\nline 3: key \"small\" already set in map", "b 0s map[] [2]"},
		{"- a", `["a"] is not an object with fields`, " 0s map[] []"},
	} {
		var got document
		problems, err := strict.YAML([]byte(c.text), &got)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		var said []string
		for _, p := range problems {
			said = append(said, p.Error())
		}
		if text := strings.Join(said, "\n"); text != c.want {
			t.Errorf("%s\nis refused with\n%s\nwant\n%s", c.text, text, c.want)
		}
		amounts := map[string]string{}
		for name, q := range got.Amounts {
			amounts[name] = q.String()
		}
		small := []int32{}
		for i := range got.List {
			small = append(small, got.List[i].Small)
		}
		if rest := fmt.Sprint(got.Name, " ", got.Wait.Duration, " ", amounts, " ", small); rest != c.rest {
			t.Errorf("%s\nis %s, want %s", c.text, rest, c.rest)
		}
	}
}

func TestSyntax(t *testing.T) {
	if _, err := strict.YAML([]byte("a: 1\n b: 2"), &document{}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
	if _, err := strict.JSON([]byte("{"), &document{}); err == nil {
		t.Error("half an object is taken")
	}
}

func TestTouches(t *testing.T) {
	for _, c := range []struct {
		field, path string
		want        bool
	}{
		{"list[1].small", "list[1].small", true},
		{"list[1]", "list[1].small", true},
		{"list[1].small", "list[1]", true},
		{"list", "list[1]", true},
		{"list[1]", "list[10]", false},
		{"name", "names", false},
		{"", "name", false},
	} {
		if got := (&strict.Problem{Field: c.field}).Touches(c.path); got != c.want {
			t.Errorf("%q and %q: %v", c.field, c.path, got)
		}
	}
}
