package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func ask(method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		method, target string
		status         int
		kind           string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8"},
		{"HEAD", "/", 200, "text/html; charset=utf-8"},
		{"GET", "/?x=1", 200, "text/html; charset=utf-8"},
		{"GET", "/app.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/style.css", 200, "text/css; charset=utf-8"},
		{"GET", "/icon.svg", 200, "image/svg+xml"},
		{"POST", "/", 405, "text/plain; charset=utf-8"},
		{"GET", "/index.html", 404, "text/plain; charset=utf-8"},
		{"GET", "/files", 404, "text/plain; charset=utf-8"},
		{"GET", "/files/", 404, "text/plain; charset=utf-8"},
		{"GET", "/files/app.js", 404, "text/plain; charset=utf-8"},
		{"GET", "//app.js", 404, "text/plain; charset=utf-8"},
		{"GET", "/../web.go", 404, "text/plain; charset=utf-8"},
		{"GET", "/%2e%2e/web.go", 404, "text/plain; charset=utf-8"},
		{"GET", "/jobs/17", 404, "text/plain; charset=utf-8"},
		{"POST", "/nothing", 404, "text/plain; charset=utf-8"},
	} {
		w := ask(c.method, c.target)
		require.Equal(t, c.status, w.Code, "%s %s", c.method, c.target)
		require.Equal(t, c.kind, w.Header().Get("Content-Type"), "%s %s", c.method, c.target)
		require.NotContains(t, w.Body.String(), "<pre>", "a listing of a folder")
		if c.method == "HEAD" {
			require.Empty(t, w.Body)
		}
	}
	require.Equal(t, "GET, HEAD", ask("POST", "/").Header().Get("Allow"))
}

// Every answer has the headers that keep the page to itself, those that are errors
// too.
func TestHeaders(t *testing.T) {
	for _, target := range []string{"/", "/app.js", "/nothing"} {
		h := ask("GET", target).Header()
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			require.Equal(t, want, h.Get(name), "%s of %s", name, target)
		}
		directives := map[string]string{}
		for d := range strings.SplitSeq(h.Get("Content-Security-Policy"), ";") {
			name, sources, _ := strings.Cut(strings.TrimSpace(d), " ")
			directives[name] = sources
		}
		require.Equal(t, map[string]string{
			"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'", "connect-src": "'self'",
			"base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
			"require-trusted-types-for": "'script'", "trusted-types": "'none'",
		}, directives, target)
	}
}

// A browser keeps the files, and asks whether they are still the same.
func TestFilesAreKeptByTheirTag(t *testing.T) {
	first := ask("GET", "/app.js")
	tag := first.Header().Get("ETag")
	require.Equal(t, "no-cache", first.Header().Get("Cache-Control"))
	require.NotEqual(t, tag, ask("GET", "/dom.js").Header().Get("ETag"))
	again := ask("GET", "/app.js", "If-None-Match", tag)
	require.Equal(t, http.StatusNotModified, again.Code)
	require.Empty(t, again.Body)
}

var (
	referred = regexp.MustCompile(`(?:src=|href=|from )"([^"#][^"]*)"`)
	outer    = regexp.MustCompile(`(?i)https?://[^\s"'<>]+|(?:src|href)="//`)
	unsafe   = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|setAttribute\("style"|\bstyle:`)
	inline   = regexp.MustCompile(`(?i)<script>|<style|\son\w+="|\sstyle="|javascript:`)
)

// The files refer to each other and to nothing else, have nothing inline, and never
// make HTML of text.
func TestFilesAreSelfContained(t *testing.T) {
	files := load()
	used := map[string]bool{"/": true}
	err := fs.WalkDir(embedded, "files", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		require.NotEmpty(t, kinds[path.Ext(name)], "%s has no type", name)
		data, err := embedded.ReadFile(name)
		require.NoError(t, err)
		text := strings.ReplaceAll(string(data), `xmlns="http://www.w3.org/2000/svg"`, "")
		require.NotRegexp(t, outer, text, name)
		require.NotRegexp(t, unsafe, text, name)
		if path.Ext(name) != ".js" {
			require.NotRegexp(t, inline, text, name)
		}
		for _, m := range referred.FindAllStringSubmatch(text, -1) {
			target := path.Join("/", m[1])
			_, there := files[target]
			require.True(t, there, "%s refers to %s", name, m[1])
			used[target] = true
		}
		return nil
	})
	require.NoError(t, err)
	for name := range files {
		require.True(t, used[name], "nothing refers to %s", name)
	}
}
