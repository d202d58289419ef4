package release_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/internal/release"
)

// Whoever raises the libraries raises the version too.
func TestVersionIsThatOfTheLibraries(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	want := "v0." + strings.TrimPrefix(release.Kubernetes, "1.")
	for _, library := range []string{"api", "apimachinery", "client-go", "component-base"} {
		required := regexp.MustCompile(`(?m)^\s+k8s\.io/` + library + ` (\S+)`).FindSubmatch(mod)
		if required == nil {
			t.Errorf("go.mod does not require k8s.io/%s", library)
		} else if got := string(required[1]); got != want {
			t.Errorf("go.mod requires k8s.io/%s %s, and Kubernetes %s has %s", library, got, release.Kubernetes, want)
		}
	}
}
