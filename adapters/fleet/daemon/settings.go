package daemon

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/server"
)

// Common are the settings that servers and agents share.
type Common struct {
	// Name is the server's ID, or the node's name. Default: the machine's name.
	Name string `json:"name,omitempty"`
	// Data is the folder of all that is kept.
	Data string `json:"data,omitempty"`
	// Listen is host:port to listen on, Advertise where others reach it. Advertise's
	// default: Listen, or the machine's address where Listen names none.
	Listen    string `json:"listen,omitempty"`
	Advertise string `json:"advertise,omitempty"` // see Listen
	// Servers are addresses of servers of the fleet, and TokenFile a file with a token
	// to join it. They are needed at the first start only, but for agents, which need
	// Servers always.
	Servers   []string `json:"servers,omitempty"`
	TokenFile string   `json:"tokenFile,omitempty"` // see Servers
	LogLevel  string   `json:"logLevel,omitempty"`  // trace, debug, info, warn or error; default: info
	LogJSON   bool     `json:"logJSON,omitempty"`   // a JSON object a line, for programs
}

// addTo adds the flags, with the defaults of fill.
func (c *Common) addTo(fs *pflag.FlagSet, data, port string) {
	fs.StringVar(&c.Name, "name", "", "`name` of this machine in the fleet (default: its host name)")
	fs.StringVar(&c.Data, "data", "", "`folder` of all that is kept (default "+data+")")
	fs.StringVar(&c.Listen, "listen", "", "`address` to listen on (default :"+port+")")
	fs.StringVar(&c.Advertise, "advertise", "", "`address` at which others reach this machine (default: that of --listen, or of its first network)")
	fs.StringSliceVar(&c.Servers, "servers", nil, "`addresses` of servers of the fleet")
	fs.StringVar(&c.TokenFile, "join-token-file", "", "`file` with a join token, for the first start")
	fs.StringVar(&c.LogLevel, "log-level", "", "`level` of what is logged: trace, debug, info, warn or error (default info)")
	fs.BoolVar(&c.LogJSON, "log-json", false, "log as JSON")
}

// maxSettings is the size of a file of settings.
const maxSettings = 1 << 20

// readSettings reads a file of settings into a value; no path, no file.
func readSettings(path string, into any) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return command.Mistakef("--config: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return err
	}
	if len(text) > maxSettings { // what is left after a cut may mean something else
		return fmt.Errorf("%s: it has more than %d bytes", path, maxSettings)
	}
	return job.Decode(path, text, into)
}

// flagsOver gives the flags that were set the last word: what the file says of them
// is replaced. Set is called for each flag that was given.
func flagsOver(fs *pflag.FlagSet, read func() error) error {
	given := map[string]string{}
	fs.Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() })
	if err := read(); err != nil {
		return err
	}
	var problems []error
	for name, value := range given {
		f := fs.Lookup(name)
		switch list, ok := f.Value.(pflag.SliceValue); {
		case ok:
			problems = append(problems, list.Replace(strings.Split(strings.Trim(value, "[]"), ",")))
		case f.Value.Type() == "stringToString":
			problems = append(problems, f.Value.Set(strings.Trim(value, "[]")))
		default:
			problems = append(problems, f.Value.Set(value))
		}
	}
	return errors.Join(problems...)
}

// fill fills in what neither file nor flags say.
func (c *Common) fill(data, port string) error {
	if c.Name == "" {
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		c.Name = name
	}
	if c.Data == "" {
		c.Data = data
	}
	if c.Listen == "" {
		c.Listen = ":" + port
	}
	if c.Advertise != "" {
		return nil
	}
	host, listenPort, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return command.Mistakef("--listen, or listen in the settings: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if host, err = ownAddress(); err != nil {
			return err
		}
	}
	c.Advertise = net.JoinHostPort(host, listenPort)
	return nil
}

// ownAddress is the address of this machine's first network, loopback where there is
// no other.
func ownAddress() (string, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String(), nil
		}
	}
	return "127.0.0.1", nil
}

// join is how to join the fleet, nil where no server of it is named. There is no token
// where the certificate was made by hand, and none is read where it is there already.
func (c *Common) join(enrolled bool) (*server.Join, error) {
	switch {
	case c.TokenFile == "" && len(c.Servers) == 0:
		return nil, nil
	case len(c.Servers) == 0:
		return nil, command.Mistakef("--servers, or servers in the settings: name servers of the fleet that is to be joined")
	case c.TokenFile == "" || enrolled:
		return &server.Join{Servers: c.Servers}, nil
	}
	text, err := pki.ReadSecret(c.TokenFile)
	if err != nil {
		return nil, command.Mistakef("--join-token-file, or tokenFile in the settings: %w", err)
	}
	return &server.Join{Servers: c.Servers, Token: strings.TrimSpace(string(text))}, nil
}

// logger logs to standard error.
func (c *Common) logger() (hclog.Logger, error) {
	level := hclog.Info
	if c.LogLevel != "" {
		if level = hclog.LevelFromString(c.LogLevel); level == hclog.NoLevel {
			return nil, command.Mistakef("--log-level, or logLevel in the settings: there is no level %q; it is trace, debug, info, warn or error", c.LogLevel)
		}
	}
	return hclog.New(&hclog.LoggerOptions{Name: "berth", Level: level, JSONFormat: c.LogJSON, Output: os.Stderr}), nil
}

// hosts are the names and addresses for the certificate of a machine.
func (c *Common) hosts() []string {
	out := []string{}
	if host, _, err := net.SplitHostPort(c.Advertise); err == nil {
		out = append(out, host)
	}
	return out
}

// Default ports and folders.
const (
	serverPort = "7070"
	agentPort  = "7071"
	serverData = "/var/lib/berth/server"
	agentData  = "/var/lib/berth/agent"
)
