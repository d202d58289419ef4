// Package cli is the command line of a fleet's users and operators: what "berth"
// does but for the commands that run something, which cmd/berth adds.
//
// # Settings
//
// Where the servers are, and who the user is, is looked for in this order:
//
//	flag           variable            config.yaml
//	--addr         BERTH_ADDR          servers      addresses, with commas
//	--cacert       BERTH_CACERT        caCert       file: the fleet's authority
//	--client-cert  BERTH_CLIENT_CERT   clientCert   file: certificate and key
//	--token-file   BERTH_TOKEN_FILE    tokenFile    file: a bearer token
//	               BERTH_TOKEN         token        a bearer token
//
// The file is ~/.config/berth/config.yaml, or what BERTH_CONFIG names. There is no
// flag for a token itself: other users of the machine could read it. A file that
// has a token or a key must be its owner's alone.
//
// # What is printed
//
// Tables are for people and may change; "-o json" and "-o yaml" have what the
// servers sent, and "-o name" one name or number a line. What others may have
// written, names and messages, is never sent to the terminal as it is: characters
// that cannot be shown are written as "\x1b". Colours are for terminals, unless
// NO_COLOR is set. Warnings are on the error output, so that scripts may read the
// other one.
//
// # Exit codes
//
//	0  done
//	1  failed
//	2  the command line, a file or a request is not right
//	3  there is no such job, node, queue or token
//	4  not allowed
//	5  no server could be reached
//
// "wait" and "submit --wait" end with 125 instead of these, where it is not a job that
// has ended; also where it can never start as things are. Only an option that
// cannot be read is 2 there, too. Else they end with the code of the job: that of its
// task, 128 and the number of the signal where one ended it, 124 where it reached its
// time limit or its deadline, 127, 126 or 1 where it could not be started as it is, and 1
// where it did not succeed for another reason. Of several elements and jobs it is the
// largest; of an array, that of the attempts that servers list (the last 200). As it
// may be any code, 125 too, the message on the error output says whether it is the job's.
package cli
