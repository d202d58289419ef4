package controlplane

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// startEtcd starts etcd without fsync: nothing has to survive the machine.
func (c *ControlPlane) startEtcd(ctx context.Context) error {
	return withPorts(ctx, 2, func(ctx context.Context, ports []string) error {
		c.etcdURL = "http://" + host + ":" + ports[0]
		peers := "http://" + host + ":" + ports[1]
		return c.launchReady(ctx, Etcd, answers(c.etcdURL+"/health", ""),
			"--data-dir="+c.file("etcd"),
			"--unsafe-no-fsync",
			fmt.Sprintf("--quota-backend-bytes=%d", int64(8<<30)),
			"--listen-client-urls="+c.etcdURL, "--advertise-client-urls="+c.etcdURL,
			"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers,
			"--initial-cluster=default="+peers,
			"--log-level=warn",
		)
	})
}

// startAPIServer starts it on c.port. Two admission plugins are off: there is no
// service account controller, and nobody would take the taint of new nodes away.
func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	args := []string{
		"--etcd-servers=" + c.etcdURL,
		"--bind-address=" + host, "--secure-port=" + c.port, "--cert-dir=" + c.dir,
		"--advertise-address=10.255.255.1", "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/16",
		"--service-account-issuer=https://loopback.test",
		"--service-account-key-file=" + c.file("service-account.key"),
		"--service-account-signing-key-file=" + c.file("service-account.key"),
		"--token-auth-file=" + c.file("tokens.csv"),
		"--client-ca-file=" + c.file("client-ca.crt"),
		"--requestheader-client-ca-file=" + c.file("proxy-ca.crt"),
		"--requestheader-username-headers=X-Remote-User",
		"--authorization-mode=RBAC",
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
	}
	args = append(args, gatesFlag(c.options.FeatureGates)...)
	if len(c.options.RuntimeConfig) > 0 {
		args = append(args, "--runtime-config="+strings.Join(c.options.RuntimeConfig, ","))
	}
	return c.launchReady(ctx, APIServer, answers(c.URL()+"/readyz", c.account(AdminUser).token), args...)
}

// StartControllerManager starts a kube-controller-manager with the named controllers
// alone, such as "persistentvolume-binder-controller". Controllers that look at the
// health of nodes would find none.
func (c *ControlPlane) StartControllerManager(ctx context.Context, controllers ...string) error {
	return withPorts(ctx, 1, func(ctx context.Context, ports []string) error {
		config := c.Kubeconfig(AdminUser)
		args := []string{
			"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
			"--bind-address=" + host, "--secure-port=" + ports[0], "--cert-dir=" + c.file("controller-manager"),
			"--leader-elect=false", "--controllers=" + strings.Join(controllers, ","),
			"--kube-api-qps=1000", "--kube-api-burst=1000",
			"--pvclaimbinder-sync-period=1s", // a claim that waits is looked at no sooner
		}
		check := answers("https://"+host+":"+ports[0]+"/healthz", "")
		return c.launchReady(ctx, ControllerManager, check, append(args, gatesFlag(c.options.FeatureGates)...)...)
	})
}

// stages tell kwok what happens to nodes, which are ready, and of pods that are bound
// to one: they run at once, and are gone at once when they are deleted.
const stages = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: node-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions:
    - {key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: NotIn, values: ["True"]}
  next:
    statusTemplate: |
      conditions:
      - {type: Ready, status: "True", reason: KubeletReady, lastTransitionTime: {{ Now | Quote }}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-runs}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: '.metadata.deletionTimestamp', operator: DoesNotExist}
    - {key: '.status.phase', operator: In, values: [Pending]}
  next:
    statusTemplate: |
      phase: Running
      startTime: {{ Now | Quote }}
      conditions:
      - {type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-goes}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: '.metadata.deletionTimestamp', operator: Exists}
  next:
    delete: true
`

// StartKwok starts kwok, which stands for the kubelets of all nodes: pods that are
// bound run, and those that are deleted go.
func (c *ControlPlane) StartKwok(ctx context.Context) error {
	if err := os.WriteFile(c.file("stages.yaml"), []byte(stages), 0o600); err != nil {
		return err
	}
	return withPorts(ctx, 1, func(ctx context.Context, ports []string) error {
		address := host + ":" + ports[0]
		return c.launchReady(ctx, Kwok, answers("http://"+address+"/healthz", ""),
			"--kubeconfig="+c.Kubeconfig(AdminUser), "--config="+c.file("stages.yaml"),
			"--manage-all-nodes=true", "--server-address="+address)
	})
}

// probe asks programs on loopback whether they are ready. It does not verify their
// certificates, which they make themselves.
var probe = &http.Client{
	Timeout: 5 * time.Second,
	Transport: &http.Transport{
		DisableKeepAlives: true, // so that nothing is left of them
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	},
}

// answers is a check whether there is a 200 at the URL.
func answers(url, token string) func() error {
	return func() error {
		status, body, err := get(url, token)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%s: %d %s", url, status, body)
		}
		return err
	}
}

// get asks for the URL, as the user of the token if there is one.
func get(url, token string) (status int, body string, err error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := probe.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
