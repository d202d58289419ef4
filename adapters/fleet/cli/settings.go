package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// settings say where the servers are and who the user is. The package comment says
// where they come from.
type settings struct {
	Servers    string `json:"servers,omitempty"`
	CACert     string `json:"caCert,omitempty"`
	ClientCert string `json:"clientCert,omitempty"`
	TokenFile  string `json:"tokenFile,omitempty"`
	Token      string `json:"token,omitempty"`
}

// maxSetting is the largest file of settings or with a token, in bytes.
const maxSetting = 64 << 10

// addTo adds the flags.
func (s *settings) addTo(fs *pflag.FlagSet) {
	fs.StringVar(&s.Servers, "addr", "", "`addresses` of the servers, with commas (BERTH_ADDR)")
	fs.StringVar(&s.CACert, "cacert", "", "`file` with the certificate of the fleet's authority (BERTH_CACERT)")
	fs.StringVar(&s.ClientCert, "client-cert", "", "`file` with your certificate and its key (BERTH_CLIENT_CERT)")
	fs.StringVar(&s.TokenFile, "token-file", "", "`file` with your token (BERTH_TOKEN_FILE)")
}

// resolve gathers the settings from all places. A token, or a token's file, is
// taken from the first place that has either.
func (s *settings) resolve(getenv func(string) string) (client.Config, error) {
	file, err := readConfig(getenv)
	if err != nil {
		return client.Config{}, err
	}
	env := settings{Servers: getenv("BERTH_ADDR"), CACert: getenv("BERTH_CACERT"), ClientCert: getenv("BERTH_CLIENT_CERT"),
		TokenFile: getenv("BERTH_TOKEN_FILE"), Token: getenv("BERTH_TOKEN")}
	servers := cmp.Or(s.Servers, env.Servers, file.Servers)
	if servers == "" {
		return client.Config{}, command.Mistake(errors.New("no server is known: give --addr, set BERTH_ADDR, or write servers into ~/.config/berth/config.yaml"))
	}
	ca := cmp.Or(s.CACert, env.CACert, file.CACert)
	if ca == "" {
		return client.Config{}, command.Mistake(errors.New("the fleet's authority is not known: give --cacert, set BERTH_CACERT, or write caCert into ~/.config/berth/config.yaml"))
	}
	token, err := firstToken(s, &env, &file)
	if err != nil {
		return client.Config{}, err
	}
	keeper, err := pki.NewKeeper(pki.Files{CA: ca, Credential: cmp.Or(s.ClientCert, env.ClientCert, file.ClientCert)}, hclog.NewNullLogger())
	if err != nil {
		return client.Config{}, command.Mistake(err)
	}
	return client.Config{
		Servers: strings.Split(servers, ","),
		TLS:     keeper.ClientTLS(pki.Identity{Role: pki.Server}),
		Token:   token,
	}, nil
}

// firstToken is the token of the first of the settings that have one.
func firstToken(places ...*settings) (string, error) {
	for _, s := range places {
		if s.TokenFile != "" {
			data, err := pki.ReadSecret(s.TokenFile)
			if err != nil {
				return "", command.Mistakef("reading the token: %w", err)
			}
			return strings.TrimSpace(string(data)), nil
		}
		if s.Token != "" {
			return s.Token, nil
		}
	}
	return "", nil
}

// readConfig reads the file of settings. There need not be one, unless
// BERTH_CONFIG names it.
func readConfig(getenv func(string) string) (settings, error) {
	var s settings
	path := getenv("BERTH_CONFIG")
	named := path != ""
	if !named {
		dir := cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(getenv("HOME"), ".config"))
		path = filepath.Join(dir, "berth", "config.yaml")
	}
	data, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return s, nil
	case err != nil:
		return s, command.Mistake(err)
	}
	if err := job.Decode(path, data, &s); err != nil {
		return s, err
	}
	if s.Token != "" {
		if _, err := pki.ReadSecret(path); err != nil {
			return s, command.Mistake(err)
		}
	}
	return s, nil
}

// open opens a file that the user has named, to be read.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, command.Mistake(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(command.Mistakef("%s is a directory", path), f.Close())
	}
	return f, nil
}

// readFile reads a small file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSetting+1))
	if err == nil && len(data) > maxSetting {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSetting)
	}
	return data, err
}
