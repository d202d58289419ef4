package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

const (
	nodesHeader = "sn,cpu_milli,memory_mib,gpu,model\n"
	podsHeader  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
)

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadNodes(t *testing.T) {
	want := []trace.Node{
		{Name: "b", CPU: 64000, Memory: 262144, GPUs: 2, Model: "P100"},
		{Name: "a", CPU: 32000, Memory: 131072},
	}
	const plain = nodesHeader + "b,64000,262144,2,P100\na,32000,131072,0,\n"
	inputs := map[string]string{
		"plain":                     plain,
		"compressed":                zipped(t, plain),
		"with Windows line ends":    strings.ReplaceAll(plain, "\n", "\r\n"),
		"with a byte order mark":    "\ufeff" + plain,
		"without a last line end":   strings.TrimSuffix(plain, "\n"),
		"with empty lines":          strings.ReplaceAll(plain, "\n", "\n\n"),
		"in another column order":   "model,gpu,sn,memory_mib,cpu_milli\nP100,2,b,262144,64000\n,0,a,131072,32000\n",
		"with columns of no use":    "rack,sn,cpu_milli,memory_mib,gpu,model\n7,b,64000,262144,2,P100\n8,a,32000,131072,0,\n",
		"with fields within quotes": nodesHeader + "\"b\",64000,262144,2,\"P100\"\na,32000,131072,0,\"\"\n",
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			got, err := trace.ReadNodes("nodes.csv", strings.NewReader(input))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestReadPods(t *testing.T) {
	const input = podsHeader +
		"cpu-only,4000,8192,0,0,\n" +
		"share,2000,4096,1,460,\n" +
		"whole,8000,16384,8,1000,G2|T4\n"
	want := []trace.Pod{
		{Name: "cpu-only", Memory: 8192, Shape: trace.Shape{CPU: 4000}},
		{Name: "share", Memory: 4096, Shape: trace.Shape{CPU: 2000, GPUs: 1, Share: 460}},
		{Name: "whole", Memory: 16384, Shape: trace.Shape{CPU: 8000, GPUs: 8, Share: 1000, Spec: "G2|T4"}},
	}
	got, err := trace.ReadPods("pods.csv", strings.NewReader(input))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReadPodsWithoutSpec(t *testing.T) {
	const input = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,2000,4096,1,460\n"
	got, err := trace.ReadPods("pods.csv", strings.NewReader(input))
	if err != nil || len(got) != 1 || got[0].Spec != "" {
		t.Errorf("got %v, %v", got, err)
	}
}

// Each input gives exactly these problems.
func TestMalformedPods(t *testing.T) {
	tests := []struct {
		name, input string
		want        []string
	}{
		{"nothing at all", "", []string{"pods.csv: the file is empty"}},
		{"only a header", podsHeader, []string{"pods.csv: there is no line below the header"}},
		{"missing columns", "name,num_gpu,gpu_milli\np,x,y\n", []string{
			"pods.csv:1: cpu_milli: the column is missing",
			"pods.csv:1: memory_mib: the column is missing",
		}},
		{"a column twice", "name,name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", []string{
			"pods.csv:1: name: the column appears twice",
		}},
		{"wrong numbers of fields", podsHeader + "p,1,1,0,0\nq,1,1,0,0,,,\nr,1,1,0,0,\n", []string{
			"pods.csv:2: 5 fields where the header has 6",
			"pods.csv:3: 8 fields where the header has 6",
		}},
		{"bad numbers", podsHeader + "p,1.5,,0x1,99999999999999999999,\n", []string{
			`pods.csv:2: cpu_milli: "1.5" is not a whole number`,
			`pods.csv:2: memory_mib: is empty`,
			`pods.csv:2: num_gpu: "0x1" is not a whole number`,
			`pods.csv:2: gpu_milli: 99999999999999999999 is more than 1000`,
		}},
		{"negative amounts", podsHeader + "p,-1,-2,-3,-4,\n", []string{
			"pods.csv:2: cpu_milli: -1 is negative",
			"pods.csv:2: memory_mib: -2 is negative",
			"pods.csv:2: num_gpu: -3 is negative",
			"pods.csv:2: gpu_milli: -4 is negative",
		}},
		{"amounts beyond any machine", podsHeader + "p,2147483649,1,1025,1000,\n", []string{
			"pods.csv:2: cpu_milli: 2147483649 is more than 2147483648",
			"pods.csv:2: num_gpu: 1025 is more than 1024",
		}},
		{"names", podsHeader + "p,1,1,0,0,\n,1,1,0,0,\np,1,1,0,0,\n", []string{
			"pods.csv:3: name: is empty",
			`pods.csv:4: name: "p" is already on line 2`,
		}},
		{"impossible shares", podsHeader + "p,1,1,1,1001,\nq,1,1,2,500,\nr,1,1,0,500,\ns,1,1,1,0,\n", []string{
			"pods.csv:2: gpu_milli: 1001 is more than 1000",
			"pods.csv:3: num_gpu: 2 with a gpu_milli of 500: only one GPU can be shared",
			"pods.csv:4: gpu_milli: 500 of no GPU: num_gpu is 0",
			"pods.csv:5: gpu_milli: 0 of 1 GPUs",
		}},
		{"an empty model", podsHeader + "p,1,1,1,500,A||B\n", []string{
			`pods.csv:2: gpu_spec: "A||B" names an empty model`,
		}},
		{"a stray quote", podsHeader + "p\"q,1,1,0,0,\nr,-1,1,0,0,\n", []string{
			`pods.csv:2: bare " in non-quoted-field`,
			"pods.csv:3: cpu_milli: -1 is negative",
		}},
		{"a broken archive", zipped(t, podsHeader)[:20], []string{"pods.csv: unexpected EOF"}},
		{"something that only begins like an archive", "\x1f\x8bname", []string{"pods.csv: unexpected EOF"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := trace.ReadPods("pods.csv", strings.NewReader(test.input))
			want := "trace: malformed input\n  " + strings.Join(test.want, "\n  ")
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestProblemsAreCapped(t *testing.T) {
	_, err := trace.ReadPods("pods.csv", strings.NewReader(podsHeader+strings.Repeat("short\n", 53)))
	var malformed *trace.FormatError
	if !errors.As(err, &malformed) || len(malformed.Problems) != trace.MaxProblems || malformed.More != 3 {
		t.Fatalf("got %v", err)
	}
	if !strings.HasSuffix(err.Error(), "\n  and 3 more") {
		t.Errorf("the message ends without the number of the others: %v", err)
	}
}

func writeFiles(t *testing.T, nodes, pods string) (nodesFile, podsFile string) {
	t.Helper()
	dir := t.TempDir()
	nodesFile, podsFile = filepath.Join(dir, "nodes.csv"), filepath.Join(dir, "pods.csv")
	for file, text := range map[string]string{nodesFile: nodes, podsFile: pods} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return nodesFile, podsFile
}

func TestLoad(t *testing.T) {
	const gpuNode, gpuPod = "n,64000,262144,2,P100\n", "p,1,1,1,500,\n"

	t.Run("sorts by name and adds the capacity up", func(t *testing.T) {
		got, err := trace.Load(writeFiles(t, nodesHeader+"o,1,1,1,\n"+gpuNode, podsHeader+"q,1,1,0,0,\n"+gpuPod))
		if err != nil {
			t.Fatal(err)
		}
		if got.Nodes[0].Name != "n" || got.Pods[0].Name != "p" || got.Capacity() != 3000 {
			t.Errorf("got %v with a capacity of %d", got, got.Capacity())
		}
	})
	t.Run("lists the problems of both files in one error", func(t *testing.T) {
		_, err := trace.Load(writeFiles(t, "sn\n", podsHeader+"p,-1,1,0,0,\n"))
		var malformed *trace.FormatError
		if !errors.As(err, &malformed) {
			t.Fatalf("got %v", err)
		}
		if len(malformed.Problems) != 5 || malformed.Problems[4].File != "pods.csv" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("names the files that are missing", func(t *testing.T) {
		_, err := trace.Load("no-nodes.csv", "no-pods.csv")
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("got %v", err)
		}
		for _, file := range []string{"no-nodes.csv", "no-pods.csv"} {
			if !strings.Contains(err.Error(), file) {
				t.Errorf("%v does not name %s", err, file)
			}
		}
	})
	t.Run("wants capacity", func(t *testing.T) {
		_, err := trace.Load(writeFiles(t, nodesHeader+"n,1,1,0,\n", podsHeader+gpuPod))
		if !errors.Is(err, trace.ErrNoCapacity) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("wants demand", func(t *testing.T) {
		_, err := trace.Load(writeFiles(t, nodesHeader+gpuNode, podsHeader+"p,1,1,0,0,\n"))
		if !errors.Is(err, trace.ErrNoDemand) {
			t.Errorf("got %v", err)
		}
	})
}
