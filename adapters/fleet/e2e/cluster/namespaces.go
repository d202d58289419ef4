package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// namespaces has a network namespace for each machine, with a veth pair to a bridge
// that this process is on.
type namespaces struct {
	tag    string // what all its names begin with
	subnet netip.Prefix

	mu    sync.Mutex
	hosts map[string]*host
}

// host is one machine.
type host struct {
	name      string
	namespace string
	link      string // the bridge's end
	address   netip.Addr
}

// port is the one that every machine listens on.
const port = 7070

// networks counts those of this process.
var networks atomic.Int32

// tagOf is what the names of a process's networks begin with. Names of links have at most
// 15 characters.
func tagOf(pid int) string { return "be" + strconv.FormatInt(int64(pid), 36) + "x" }

func newNamespaces() (*namespaces, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return nil, errors.New("there is no program ip (iproute2)")
	}
	n := &namespaces{tag: fmt.Sprintf("%s%d", tagOf(os.Getpid()), networks.Add(1)), hosts: map[string]*host{}}
	var err error
	if n.subnet, err = freeSubnet(); err != nil {
		return nil, err
	}
	own := netip.PrefixFrom(n.subnet.Addr().Next(), n.subnet.Bits())
	err = ip("link add "+n.bridge()+" type bridge", fmt.Sprintf("addr add %s dev %s", own, n.bridge()), "link set "+n.bridge()+" up")
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *namespaces) bridge() string { return n.tag }
func (n *namespaces) cuts() bool     { return true }
func (n *namespaces) String() string {
	return fmt.Sprintf("network namespaces on the bridge %s, %s", n.bridge(), n.subnet)
}

// freeSubnet is a network that no interface of this machine is on.
func freeSubnet() (netip.Prefix, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Prefix{}, err
	}
	for range 100 {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(150 + rand.N(100)), byte(rand.N(256)), 0}), 24)
		free := true
		for _, a := range addresses {
			if used, err := netip.ParsePrefix(a.String()); err == nil && used.Overlaps(p) {
				free = false
			}
		}
		if free {
			return p, nil
		}
	}
	return netip.Prefix{}, errors.New("no free network was found")
}

// ip runs lines of the program ip.
func ip(lines ...string) error {
	cmd := exec.Command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(lines, "; "), err, strings.TrimSpace(string(text)))
	}
	return nil
}

// inside runs lines of the program ip in a namespace.
func inside(h *host, lines ...string) error {
	cmd := exec.Command("ip", "-n", h.namespace, "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("in %s: ip %s: %w: %s", h.name, strings.Join(lines, "; "), err, strings.TrimSpace(string(text)))
	}
	return nil
}

func (n *namespaces) add(name string) (string, int, string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	number := len(n.hosts) + 2 // the bridge has the first address
	address := n.subnet.Addr()
	for range number {
		address = address.Next()
	}
	h := &host{name: name, namespace: n.tag + "-" + name, link: fmt.Sprintf("%sv%d", n.tag, number), address: address}
	n.hosts[name] = h
	err := ip("netns add "+h.namespace,
		fmt.Sprintf("link add %s type veth peer name eth0 netns %s", h.link, h.namespace),
		fmt.Sprintf("link set %s master %s", h.link, n.bridge()), "link set "+h.link+" up")
	if err == nil {
		err = inside(h, fmt.Sprintf("addr add %s/%d dev eth0", address, n.subnet.Bits()), "link set lo up", "link set eth0 up")
	}
	return address.String(), port, filepath.Join("/run/netns", h.namespace), err
}

// routes are what keeps each of the two from sending to the other.
func (n *namespaces) change(verb, a, b string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	from, to := n.hosts[a], n.hosts[b]
	if b == "" {
		state := map[string]string{"add": "down", "del": "up"}[verb]
		return ip(fmt.Sprintf("link set %s %s", from.link, state))
	}
	return errors.Join(
		inside(from, fmt.Sprintf("route %s blackhole %s/32", verb, to.address)),
		inside(to, fmt.Sprintf("route %s blackhole %s/32", verb, from.address)))
}

func (n *namespaces) cut(a, b string) error  { return n.change("add", a, b) }
func (n *namespaces) heal(a, b string) error { return n.change("del", a, b) }

func (n *namespaces) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, h := range n.hosts {
		errs = append(errs, ip("link del "+h.link), ip("netns del "+h.namespace))
	}
	return errors.Join(append(errs, ip("link del "+n.bridge()))...)
}

// sweepNetworks removes those of a process that is no more.
func sweepNetworks(pid int) {
	tag := tagOf(pid)
	for _, path := range glob("/run/netns/" + tag + "*") {
		_ = ip("netns del " + filepath.Base(path)) // somebody else may have done it
	}
	links, _ := net.Interfaces()
	for _, l := range links {
		if strings.HasPrefix(l.Name, tag) {
			_ = ip("link del " + l.Name)
		}
	}
}
