package enginetest
import ("testing";"fmt";"os";"strconv")
func TestDbg(t *testing.T){
 seed,_:=strconv.ParseUint(os.Getenv("S"),10,64)
 r:=simulate(seed,SimOptions{Record:true})
 if r.Failure!=nil{ fmt.Println(r.Failure.Step,r.Failure.Message); for _,l:=range r.Failure.Last{fmt.Println(l)} }
 if len(r.Lives)>0 { ev:=r.Lives[len(r.Lives)-1].Events; for _,e:=range ev[max(0,len(ev)-40):]{fmt.Println(e)} }
}
