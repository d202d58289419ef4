package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"path"
	"time"
)

//go:embed files
var embedded embed.FS

// policy is what the page may load and do: scripts, styles, pictures and requests of
// its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// kinds are the files' types. Those of the system's table may be others.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// file is one file of the page.
type file struct {
	text []byte
	kind string
	tag  string // names this version of it
}

// Handler answers requests for the page and its files, with GET and HEAD. Everything
// else is not found. Servers have it at "/".
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		f, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.Error(w, "There is nothing here.", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This can only be read.", http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", f.kind)
			w.Header().Set("ETag", f.tag)
			w.Header().Set("Cache-Control", "no-cache") // kept, and asked for again
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
		}
	})
}

// secure sets the headers of every answer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// load reads the embedded files, by the path of their URL.
func load() map[string]file {
	const folder = "files"
	entries, err := embedded.ReadDir(folder)
	if err != nil {
		panic(err) // it is part of the program
	}
	out := map[string]file{}
	for _, e := range entries {
		text, err := embedded.ReadFile(path.Join(folder, e.Name()))
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(text)
		out["/"+e.Name()] = file{
			text: text, kind: kinds[path.Ext(e.Name())],
			tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		}
	}
	out["/"] = out["/index.html"]
	delete(out, "/index.html") // the page has one address
	return out
}
