package controlplane

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// User is somebody whom the API server knows by a token.
type User struct {
	Name   string   // such as "system:kube-scheduler"
	Groups []string // beside system:authenticated, which everybody is in
}

// Users that are always there. AdminUser may do everything and is exempt from
// priority and fairness; SchedulerUser may do what the API server's own roles let
// kube-scheduler do, and no more.
const (
	AdminUser     = "admin"
	SchedulerUser = "system:kube-scheduler"
)

// account is a user with what proves it.
type account struct {
	User
	token string
}

// accounts gives each of the users, and those that are always there, a token.
func accounts(users []User) []account {
	all := append([]User{
		{Name: AdminUser, Groups: []string{"system:masters"}},
		{Name: SchedulerUser},
	}, users...)
	out := make([]account, len(all))
	for i, u := range all {
		out[i] = account{User: u, token: rand.Text()}
	}
	return out
}

// writeTokens writes the file for kube-apiserver's flag --token-auth-file.
func writeTokens(path string, all []account) error {
	var lines strings.Builder
	for i, a := range all {
		fmt.Fprintf(&lines, "%s,%q,uid-%d,%q\n", a.token, a.Name, i, strings.Join(a.Groups, ","))
	}
	return os.WriteFile(path, []byte(lines.String()), 0o600)
}

// Config is a client configuration for the user, with no limit on the client's
// side. It panics if there is no such user: see [Options].
func (c *ControlPlane) Config(user string) *rest.Config {
	return &rest.Config{
		Host:            c.URL(),
		BearerToken:     c.account(user).token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.caFile()},
		QPS:             -1,
	}
}

// Kubeconfig is the path of a kubeconfig file for the user. It panics if there is no
// such user: see [Options].
func (c *ControlPlane) Kubeconfig(user string) string {
	return filepath.Join(c.dir, "kubeconfig-"+c.account(user).fileName())
}

// WriteKubeconfig writes a kubeconfig file for the user that leads to another
// address, which answers for the API server: a proxy. caFile is the path of the
// certificate that the address is to be verified by, empty for the API server's own.
func (c *ControlPlane) WriteKubeconfig(path, user, url, caFile string) error {
	if caFile == "" {
		caFile = c.caFile()
	}
	return writeKubeconfig(path, c.account(user).token, url, caFile)
}

// WriteTokenKubeconfig writes a kubeconfig file for whoever the token is of.
func (c *ControlPlane) WriteTokenKubeconfig(path, token string) error {
	return writeKubeconfig(path, token, c.URL(), c.caFile())
}

func writeKubeconfig(path, token, url, caFile string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: url, CertificateAuthority: caFile}
	config.AuthInfos["user"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "user"}
	config.CurrentContext = "e2e"
	return clientcmd.WriteToFile(*config, path)
}

func (c *ControlPlane) account(user string) account {
	for _, a := range c.accounts {
		if a.Name == user {
			return a
		}
	}
	panic(fmt.Sprintf("the control plane knows no user %q; name it in Options.Users", user))
}

func (a account) fileName() string {
	return strings.NewReplacer(":", "-", "/", "-").Replace(a.Name)
}
