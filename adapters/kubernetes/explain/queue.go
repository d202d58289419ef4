package explain

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/model"
)

// How many pods of the queue are listed: where nobody says, and at most. Each is
// looked up by itself, so that scheduling goes on in between.
const (
	defaultLimit = 500
	maxLimit     = 5000
)

// listQueue answers what waits.
func (h *handler) listQueue(r *http.Request) (any, error) {
	limit := defaultLimit
	if text := r.URL.Query().Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxLimit {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("parameter %q: %q is not a number from 1 to %d", "limit", text, maxLimit))
		}
	}
	counts := h.engine.QueueCounts()
	q := &api.Queue{
		TypeMeta: metav1.TypeMeta{APIVersion: api.Version, Kind: api.QueueKind},
		At:       metav1.NowMicro(),
		Standby:  h.o.Leads != nil && !h.o.Leads(),
		Counts: api.QueueCounts{
			Active: counts.Active, Backoff: counts.Backoff, ErrorBackoff: counts.ErrorBackoff,
			Unschedulable: counts.Unschedulable, Gated: counts.Gated, InFlight: counts.InFlight,
			Incomplete: counts.Incomplete, Joining: counts.Joining,
			Permit: counts.Permit, Binding: counts.Binding, OldBinding: counts.OldBinding,
		},
	}
	waiting := h.waiting(r.URL.Query().Get("namespace"))
	q.Remaining = max(len(waiting)-limit, 0)
	for i := range waiting[:len(waiting)-q.Remaining] {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		w := &waiting[i]
		if position, ok := h.engine.Queue(w.ID); ok { // else it has left the queue meanwhile
			q.Pods = append(q.Pods, api.QueuedPod{Pod: podOf(w.Workload), NominatedNode: w.Nominated, QueuePosition: h.position(w.Workload, &position)})
		}
	}
	return q, nil
}

// waiting lists the pods that wait, of the namespace, or of all where that is empty:
// by priority, then by age.
func (h *handler) waiting(namespace string) []model.WorkloadRecord {
	var list []model.WorkloadRecord
	view := h.engine.View()
	for _, phase := range []model.Phase{model.Pending, model.Assumed} {
		for w := range view.WorkloadsIn(phase) {
			if namespace == "" || w.Namespace == namespace {
				list = append(list, w)
			}
		}
	}
	slices.SortFunc(list, func(a, b model.WorkloadRecord) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Seq, b.Seq))
	})
	return list
}
