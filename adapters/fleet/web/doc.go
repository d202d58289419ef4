// Package web is the page that servers have at "/": what the fleet does, for people
// who look at it with a browser.
//
// The page is plain HTML, CSS and JavaScript modules in the folder files, as they
// are read there: nothing builds them. The page asks the servers' API (package api)
// as its user, by a certificate that the browser shows or by a token that
// is pasted and that the browser forgets with the tab. It knows nothing that the API
// does not say, and may do nothing that its user may not.
//
// Its parts: app.js says which view is shown and when it is brought up to date;
// nodes.js, jobs.js, explain.js, log.js and events.js are the views, login.js
// asks for a token, act.js is what can be done to jobs; api.js sends requests, dom.js makes
// elements, parts.js has what several views show, format.js writes amounts and times
// as the command line does.
//
// What servers and jobs say is put into the page as text, never as HTML. The headers
// make sure of it: scripts and styles come from the page's own server alone, and the
// browser refuses to make HTML of text (require-trusted-types-for).
package web
