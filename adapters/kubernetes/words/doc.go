// Package words renders the engine's texts as kube-scheduler words them.
//
// The engine and its plugins speak of workloads, groups and claims, because most
// orchestrators have no pods. Users of Kubernetes, and programs that read conditions and
// events, expect the texts of kube-scheduler 1.37.1, byte for byte. [Text] makes the one
// of the other; the adapter, its explanations and its log use it wherever they show what
// the engine has said.
//
// The table is the only place that knows both wordings. Each row is a phrase of the
// engine and the phrase of kube-scheduler. A phrase is rendered where it stands by itself:
// at the beginning of a message, or behind the mark that ends the part before it, and up
// to such a mark. What the phrase names, the ID of a claim for example, is copied as it
// is, and so is everything else, in quotation marks above all. What a plugin of a user
// says is left alone unless it is, as a whole part of the message, a phrase of the table.
package words
