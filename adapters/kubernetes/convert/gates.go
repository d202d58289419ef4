package convert

// Gates are the feature gates that decide what pods and pod groups mean, by the names
// that they have in kube-scheduler. The zero value has them as they are in 1.37.1 without
// flags.
type Gates struct {
	// TaintTolerationComparisonOperators lets the operators Gt and Lt of a toleration
	// compare numbers. Where it is off, a toleration with one of them tolerates
	// nothing.
	TaintTolerationComparisonOperators bool
	// PodGroupPreemptionPolicy lets a pod group have a preemption policy of its own.
	// Where it is off, its pods' policies count.
	PodGroupPreemptionPolicy bool
}
