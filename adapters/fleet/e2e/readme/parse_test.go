package readme

import (
	"regexp"
	"slices"
	"strings"
)

// command is one of the README.
type command struct {
	line int
	text string
}

// programs are the first words of commands in backquotes. Other words in backquotes are
// names, options and the like.
var programs = []string{"berth", "bin/berth", "go", "cd", "curl", "sudo", "sh", "bash", "systemctl"}

var quoted = regexp.MustCompile("`([^`]+)`")

// comment is the end of a command's line.
var comment = regexp.MustCompile(`\s+#\s.*$`)

// parse finds the commands of a Markdown text, and its blocks of YAML. No words in
// backquotes go over the end of a line.
func parse(text string) (commands []command, yaml []string) {
	fence, block, blank := "", []string(nil), true
	indented := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			if fence == "" {
				fence, block = line, nil
				break
			}
			if fence == "```yaml" {
				yaml = append(yaml, strings.Join(block, "\n")+"\n")
			}
			if fence == "```sh" {
				for n, one := range block {
					commands = appendCommand(commands, i-len(block)+n+1, one)
				}
			}
			fence = ""
		case fence != "":
			block = append(block, line)
		case strings.HasPrefix(line, "    ") && (blank || indented):
			indented = true
			commands = appendCommand(commands, i+1, line)
			continue
		default:
			for _, q := range quoted.FindAllStringSubmatch(line, -1) {
				if first, rest, _ := strings.Cut(q[1], " "); rest != "" && slices.Contains(programs, first) {
					commands = append(commands, command{i + 1, q[1]})
				}
			}
		}
		blank = strings.TrimSpace(line) == ""
		indented = indented && blank
	}
	return commands, yaml
}

func appendCommand(to []command, line int, text string) []command {
	if text = comment.ReplaceAllString(strings.TrimSpace(text), ""); text == "" {
		return to
	}
	return append(to, command{line, text})
}
