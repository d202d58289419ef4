// Package daemon has the commands of the program "berth" that run something for
// long: server, agent, and dev, which is both on one machine; and ca, which makes
// certificates by hand. They read their settings, and wire the packages together.
//
// # Settings
//
// Server and agent read a file of settings (--config, YAML), whose fields are those
// of ServerSettings and AgentSettings; flags go before it.
package daemon
