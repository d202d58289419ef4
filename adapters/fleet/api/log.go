package api

// Stream is one of the two that a task writes.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// LogQuery says which log is meant. The answer has the bytes as the task wrote
// them, from those that are still kept:
// GET /v1/jobs/{id}/logs?element=&attempt=&rank=&stream=&offset=&follow=.
type LogQuery struct {
	Element int32  // its index
	Attempt int32  // 0: the last
	Rank    int32  // of the task
	Stream  Stream // default: Stdout
	// Offset is where to begin, in bytes; below 0 it counts from the end.
	Offset int64
	// Follow: the answer goes on until the task has ended.
	Follow bool
}

// NotKept ends the note on an attempt that says how many bytes of its output are in no log,
// for example since the node's disk was full.
const NotKept = "of its output could not be kept"

// OffsetHeader is, in the answer to a request for a log, the place in the stream of
// the first byte of the answer: later than what was asked for where that is not kept
// any more. Where bytes go while an answer is on its way it breaks off before them.
const OffsetHeader = "Berth-Log-Offset"

// AttemptHeader is, in the answer to a request for a log, the attempt whose it is: who
// goes on reading where an answer broke off asks for that one.
const AttemptHeader = "Berth-Log-Attempt"
