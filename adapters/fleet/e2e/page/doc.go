// Package page tests the page that servers have at "/" (package web) in a real
// browser: it starts a server and an agent in the test's own process, and looks at
// them with a headless Chromium, as a user would.
//
// It needs Linux and Chromium (Debian: apt-get install chromium), and is skipped
// where there is none.
package page
