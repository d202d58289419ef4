package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The largest values the readers take. They are far above any machine, and low
// enough for the products of two of them, which policies use, to stay in int64.
const (
	maxAmount = 1 << 31 // milli cores, MiB
	maxGPUs   = 1 << 10 // devices of one node or pod
)

// Load reads a trace from a file of nodes (see [ReadNodes]) and one of pods (see
// [ReadPods]). A file that cannot be opened gives the error of package os; all
// that is wrong with the content of both files comes as one *FormatError; a
// trace that cannot be run as ErrNoCapacity or ErrNoDemand.
func Load(nodesFile, podsFile string) (*Trace, error) {
	nodesIn, nodesErr := os.Open(nodesFile)
	podsIn, podsErr := os.Open(podsFile)
	defer nodesIn.Close() // a nil file closes with an error, which is of no interest
	defer podsIn.Close()
	if err := errors.Join(nodesErr, podsErr); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	var found problems
	nodes := readNodes(filepath.Base(nodesFile), nodesIn, &found)
	pods := readPods(filepath.Base(podsFile), podsIn, &found)
	if err := found.err(); err != nil {
		return nil, err
	}
	return New(nodes, pods)
}

// ReadNodes reads a CSV file with the columns sn, cpu_milli, memory_mib, gpu
// and model, found by their names in the header; others are ignored. The input
// may be compressed with gzip. The name is for error messages; the error is a
// *FormatError.
func ReadNodes(name string, in io.Reader) ([]Node, error) {
	var found problems
	nodes := readNodes(name, in, &found)
	return nodes, found.err()
}

// ReadPods is like ReadNodes with the columns name, cpu_milli, memory_mib,
// num_gpu, gpu_milli and, optionally, gpu_spec. A pod asks for no GPU (both
// zero), for a share of one, or for any number of whole ones (gpu_milli 1000).
func ReadPods(name string, in io.Reader) ([]Pod, error) {
	var found problems
	pods := readPods(name, in, &found)
	return pods, found.err()
}

func readNodes(file string, in io.Reader, found *problems) []Node {
	t := openTable(file, in, found, []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"})
	var nodes []Node
	for t.next() {
		nodes = append(nodes, Node{
			Name:   t.name("sn"),
			CPU:    t.amount("cpu_milli", maxAmount),
			Memory: t.amount("memory_mib", maxAmount),
			GPUs:   int(t.amount("gpu", maxGPUs)),
			Model:  t.text("model"),
		})
	}
	return nodes
}

func readPods(file string, in io.Reader, found *problems) []Pod {
	t := openTable(file, in, found, []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"})
	var pods []Pod
	for t.next() {
		var p Pod
		p.Name = t.name("name")
		p.CPU = t.amount("cpu_milli", maxAmount)
		p.Memory = t.amount("memory_mib", maxAmount)
		p.GPUs = int(t.amount("num_gpu", maxGPUs))
		p.Share = t.amount("gpu_milli", WholeGPU)
		p.Spec = t.spec("gpu_spec")
		t.checkShare(p.Shape)
		pods = append(pods, p)
	}
	return pods
}

// checkShare reports shapes that ask for something that cannot be given. A line
// with a bad number is left alone, lest one mistake be reported twice.
func (t *table) checkShare(s Shape) {
	switch {
	case t.badLine:
	case s.GPUs == 0 && s.Share > 0:
		t.report("gpu_milli", fmt.Sprintf("%d of no GPU: num_gpu is 0", s.Share))
	case s.GPUs > 0 && s.Share == 0:
		t.report("gpu_milli", fmt.Sprintf("0 of %d GPUs", s.GPUs))
	case s.GPUs > 1 && s.Share < WholeGPU:
		t.report("num_gpu", fmt.Sprintf("%d with a gpu_milli of %d: only one GPU can be shared", s.GPUs, s.Share))
	}
}

// spec reads a list of models from a column that may be missing.
func (t *table) spec(column string) Spec {
	text := t.text(column)
	for model := range strings.SplitSeq(text, "|") {
		if model == "" && text != "" {
			t.report(column, fmt.Sprintf("%q names an empty model", text))
			break
		}
	}
	return Spec(text)
}

// decompress returns the content of in, whether compressed or not. It goes by
// the content, not the file's name, so that streams can be read too.
func decompress(in io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(2) // an error comes again with the first read
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	return gzip.NewReader(buffered)
}
