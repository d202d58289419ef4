package config

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/plugins/coscheduling"
)

// coschedulingArgs are CoschedulingArgs of scheduler-plugins, apis/config/v1, commit 903da7df.
type coschedulingArgs struct {
	metav1.TypeMeta          `json:",inline"`
	PermitWaitingTimeSeconds *int64 `json:"permitWaitingTimeSeconds"`
	PodGroupBackoffSeconds   *int64 `json:"podGroupBackoffSeconds"`
	PodGroupRejectPercentage *int32 `json:"podGroupRejectPercentage"`
}

// maxSeconds is more than any of the times may be.
const maxSeconds = 1 << 31

func (a coschedulingArgs) translate() (args coscheduling.Args, err error) {
	var problems []error
	for _, f := range []struct {
		name  string
		given *int64
		to    *time.Duration
	}{
		{"permitWaitingTimeSeconds", a.PermitWaitingTimeSeconds, &args.PermitTimeout},
		{"podGroupBackoffSeconds", a.PodGroupBackoffSeconds, &args.Backoff},
	} {
		if f.given == nil {
			continue
		}
		if *f.given < 0 || *f.given > maxSeconds {
			problems = append(problems, fmt.Errorf("%s: %d is not between 0 and %d", f.name, *f.given, maxSeconds))
			continue
		}
		*f.to = time.Duration(*f.given) * time.Second
	}
	args.RejectPercentage = 10
	if a.PodGroupRejectPercentage != nil {
		args.RejectPercentage = *a.PodGroupRejectPercentage
	}
	return args, errors.Join(problems...)
}
