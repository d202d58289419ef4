package framework

import (
	"encoding/binary"

	"github.com/berth-project/berth/extpoints"
)

// The two ways in which a plugin says what its verdicts depend on.
const (
	byKey       = 'k' // [extpoints.NodeLocalPlugin]
	bySignature = 's' // [extpoints.SignPlugin]
)

// AlikeKey appends to key what it depends on whether the filters reject the workload on all nodes, where
// each of those that the cycle asks says so: as a NodeLocalPlugin or else as a SignPlugin. Of two
// workloads with the same key, looked at one right after the other, the second is rejected if the first
// was. The cycle must have been through PreFilter without being rejected or narrowed there. It reports false
// where some filter does not say, nor a PostFilter plugin, and where there are extenders.
func (f *Framework) AlikeKey(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) (_ []byte, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			ok = false // whatever is wrong with the plugin, its other points will find out
		}
	}()
	if len(f.env.Extenders) > 0 || !f.signsPostFilter() {
		return key, false
	}
	r := f.current(s)
	for i, p := range f.filters {
		if r.skipFilter[i] {
			continue
		}
		if f.wantsRefusals[i] {
			return key, false
		}
		key = append(key, byte(i>>8), byte(i), byKey)
		if longer, local := appendLocal(key, byKey, f.local.filters[i], s, w); local {
			key = longer
			continue
		}
		key[len(key)-1] = bySignature
		if key, ok = appendSigned(key, p, w); !ok {
			return key, false
		}
	}
	return key, true
}

// signsPostFilter reports whether those that make room are SignPlugins: for them, too, workloads
// of the same signature are alike, if their priority, policy and queue are the same.
func (f *Framework) signsPostFilter() bool {
	for _, p := range f.postFilter {
		if _, signs := extpoints.As[extpoints.SignPlugin](p); !signs {
			return false
		}
	}
	return true
}

// appendSigned appends the fragments of the plugin.
func appendSigned(key []byte, p extpoints.Plugin, w *extpoints.WorkloadInfo) ([]byte, bool) {
	signer, signs := extpoints.As[extpoints.SignPlugin](p)
	if !signs {
		return key, false
	}
	fragments, st := signer.Sign(w.Workload)
	if !st.IsSuccess() {
		return key, false
	}
	key = binary.AppendUvarint(key, uint64(len(fragments)))
	for _, fragment := range fragments {
		for _, part := range []string{fragment.Key, fragment.Value} {
			key = binary.AppendUvarint(key, uint64(len(part)))
			key = append(key, part...)
		}
	}
	return key, true
}
