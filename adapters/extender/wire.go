package extender

import "encoding/json"

// The types of the protocol (k8s.io/kube-scheduler extender/v1/types.go, 0.37.1).
// Pods and nodes are made by the codec; of those that come back only the names
// are read.

type extenderArgs struct {
	Pod       json.RawMessage
	Nodes     *nodeList
	NodeNames *[]string
}

type nodeList struct {
	Metadata struct{}          `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

type filterResult struct {
	Nodes                      *namedNodes
	NodeNames                  *[]string
	FailedNodes                map[string]string
	FailedAndUnresolvableNodes map[string]string
	Error                      string
}

type namedNodes struct {
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	} `json:"items"`
}

type hostPriority struct {
	Host  string
	Score int64
}

type preemptionArgs struct {
	Pod                   json.RawMessage
	NodeNameToVictims     map[string]*podVictims
	NodeNameToMetaVictims map[string]*metaVictims
}

type podVictims struct {
	Pods             []json.RawMessage
	NumPDBViolations int64
}

type metaVictims struct {
	Pods             []*metaPod
	NumPDBViolations int64
}

type metaPod struct{ UID string }

type preemptionResult struct {
	NodeNameToMetaVictims map[string]*metaVictims
}

type bindingArgs struct {
	PodName      string
	PodNamespace string
	PodUID       string
	Node         string
}

type bindingResult struct{ Error string }
