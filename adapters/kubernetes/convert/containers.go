package convert

import (
	"slices"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

var (
	initContainersPath = specPath.Child("initContainers")
	containersPath     = specPath.Child("containers")
	gatesPath          = specPath.Child("schedulingGates")
)

// ports are the host ports of the containers that run as long as the pod does:
// the sidecars and the main ones. What two of them name is there once, as in
// the scheduler's set of used ports.
//
// Rules: kube-scheduler pkg/scheduler/util/utils.go (GetHostPorts) and staging
// framework/types.go (HostPortInfo), 1.37.1.
func (p *problems) ports(s *v1.PodSpec) []model.HostPort {
	var list []model.HostPort
	for i := range s.InitContainers {
		if c := &s.InitContainers[i]; isSidecar(c) {
			list = p.addPorts(list, initContainersPath, i, c)
		}
	}
	for i := range s.Containers {
		list = p.addPorts(list, containersPath, i, &s.Containers[i])
	}
	return list
}

func isSidecar(c *v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

func (p *problems) addPorts(list []model.HostPort, containers *field.Path, container int, c *v1.Container) []model.HostPort {
	for i := range c.Ports {
		o := &c.Ports[i]
		if o.HostPort <= 0 {
			continue
		}
		port := model.HostPort{IP: o.HostIP, Protocol: model.Protocol(o.Protocol), Port: o.HostPort}
		if port.IP == "" {
			port.IP = model.AllAddresses
		}
		if port.Protocol == "" {
			port.Protocol = model.TCP
		}
		at := func(name string) *field.Path { return containers.Index(container).Child("ports").Index(i).Child(name) }
		switch {
		case !utf8.ValidString(port.IP):
			p.report(at("hostIP"), "%q is not valid UTF-8", port.IP)
		case port.Port > 65535:
			p.report(at("hostPort"), "%d is not between 1 and 65535", port.Port)
		case port.Protocol != model.TCP && port.Protocol != model.UDP && port.Protocol != model.SCTP:
			p.report(at("protocol"), "%q is not one of TCP, UDP, SCTP", o.Protocol)
		case !slices.Contains(list, port):
			list = append(list, port)
		}
	}
	return list
}

// images are the images of all containers and image volumes. Two containers of
// the same image count twice. One without a name counts as well, under the name
// that the scheduler makes of it.
//
// Rules: kube-scheduler plugins/imagelocality/image_locality.go, 1.37.1.
func (p *problems) images(s *v1.PodSpec) []string {
	list := make([]string, 0, len(s.InitContainers)+len(s.Containers))
	add := func(name string) {
		if name == "" {
			name = ":latest"
		}
		list = append(list, p.text(containersPath, name))
	}
	for i := range s.InitContainers {
		add(s.InitContainers[i].Image)
	}
	for i := range s.Containers {
		add(s.Containers[i].Image)
	}
	for i := range s.Volumes {
		if v := s.Volumes[i].Image; v != nil {
			add(v.Reference)
		}
	}
	return list
}

// gates are the names of the scheduling gates; one named twice is one.
func (p *problems) gates(gates []v1.PodSchedulingGate) []string {
	var list []string
	for i := range gates {
		at := gatesPath.Index(i).Child("name")
		name := p.text(at, gates[i].Name)
		switch {
		case name == "":
			p.report(at, "must not be empty")
		case !slices.Contains(list, name):
			list = append(list, name)
		}
	}
	return list
}
