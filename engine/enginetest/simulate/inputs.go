package simulate

// inputs are all kinds of inputs. (A function, since an input may make
// others.)
func inputs() []input {
	return []input{
		{name: "schedule", weight: 30, do: inputSchedule},
		{name: "run", weight: 26, do: inputRun, alone: true},
		{name: "finish", weight: 10, do: inputFinish},
		{name: "submit", weight: 16, do: inputSubmit},
		{name: "members", weight: 5, do: inputMembers},
		{name: "group", weight: 5, do: inputGroup},
		{name: "storage", weight: 6, do: inputStorage},
		{name: "devices", weight: 6, do: inputDevices},
		{name: "tend", weight: 6, do: inputTend},
		{name: "tell", weight: 12, do: inputTell},
		{name: "update", weight: 10, do: inputUpdate},
		{name: "remove", weight: 6, do: inputRemove},
		{name: "terminate", weight: 3, do: inputTerminate},
		{name: "end", weight: 6, do: inputEnd},
		{name: "requeue", weight: 4, do: inputRequeue},
		{name: "evict", weight: 4, do: inputEvict},
		{name: "confirm", weight: 10, do: inputConfirm},
		{name: "confirm elsewhere", weight: 4, do: inputConfirmElsewhere},
		{name: "adopt", weight: 3, do: inputAdopt},
		{name: "node", weight: 3, do: inputNode},
		{name: "change node", weight: 6, do: inputChangeNode},
		{name: "remove node", weight: 3, do: inputRemoveNode},
		{name: "lose node", weight: 2, do: inputLoseNode},
		{name: "drain", weight: 1, do: inputDrain},
		{name: "noise", weight: 3, do: inputNoise},
		{name: "hold", weight: 3, do: inputHold},
		{name: "batch", weight: 2, do: inputBatch},
		{name: "tick", weight: 10, do: inputTick},
		{name: "jump", weight: 5, do: inputJump},
		{name: "permit", weight: 5, do: inputPermit},
		{name: "activate", weight: 3, do: inputActivate},
		{name: "nominate", weight: 2, do: inputNominate},
		{name: "look", weight: 4, do: inputLook},
		{name: "nonsense", weight: 4, do: inputNonsense},
		{name: "call off", weight: 1, do: inputCallOff},
		{name: "restart", weight: 1, do: inputRestart, alone: true},
	}
}

// queueInput is one more kind, of histories with queues, budgetInput of crowded ones, breakInput of
// those with broken nodes, measureInput of those with nodes that report, and networkInput of those with costs of the
// network.
var (
	breakInput   = input{name: "break", weight: 3, do: inputBreak}
	queueInput   = input{name: "queues", weight: 8, do: inputQueues}
	budgetInput  = input{name: "budget", weight: 12, do: inputBudget}
	measureInput = input{name: "measure", weight: 40, do: inputMeasure}
	networkInput = input{name: networkName, weight: 25, do: inputNetwork}
)

// Inputs are the names of the kinds of inputs, for [Options].Without.
func Inputs() []string {
	var names []string
	for _, in := range inputs() {
		names = append(names, in.name)
	}
	return names
}
