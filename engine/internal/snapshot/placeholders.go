package snapshot

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// placeholder is a node that is not there, or not there any more, and the workloads
// that are said to be on it. Its Node is nil. It exists while it has workloads.
type placeholder struct {
	tok  *token
	info *extpoints.NodeInfo
}

// placeholders are kept by name of node. All infos of nodes begin here.
type placeholders struct {
	pmap[*placeholder]
	firstFreesPort bool
}

// open returns the info of the placeholder with the name, ready to be changed; it is
// new where there is no placeholder yet.
func (m *placeholders) open(tok *token, name string) *extpoints.NodeInfo {
	g, ok := m.get(name)
	switch {
	case !ok:
		g = &placeholder{tok: tok, info: &extpoints.NodeInfo{FirstFreesPort: m.firstFreesPort}}
	case g.tok == tok:
		return g.info
	default:
		g = &placeholder{tok: tok, info: g.info.Clone()}
	}
	m.set(tok, name, g)
	return g.info
}

// replace makes the info of a node that comes, out of its placeholder where there is
// one, which is then no more.
func (m *placeholders) replace(tok *token, n *model.Node) *extpoints.NodeInfo {
	if _, ok := m.get(n.Name); !ok {
		info := extpoints.NewNodeInfo(n)
		info.FirstFreesPort = m.firstFreesPort
		return info
	}
	info := m.open(tok, n.Name)
	m.unset(tok, n.Name)
	info.SetNode(n)
	return info
}
