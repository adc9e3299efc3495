"""Common given names. Those that are as often names of places or months, or other words, are left out."""

from __future__ import annotations

from trueweave.text.stopwords import word_list

MALE = frozenset(
    word_list("""
        aaron abdul abraham adam adolf adrian ahmed alan albert alec alejandro aleksandr alessandro alex alexander
        alfonso alfred ali alistair allan allen alvin amir anand anders andre andreas andrei andres andrew andy
        angelo anthony anton antonio archibald ari arjun armand arnold arthur arturo asher augustus axel barack
        barry bartholomew basil ben benedict benito benjamin bernard bernd bert bertrand bill billy björn bob bobby
        boris brad brendan brent brett brian bruce bruno bryan burt byron calvin cameron carl carlo carlos casey
        cecil cesar chad charles charlie chris christoph christopher chuck clarence claude claudio clemens clement
        clifford clint clive colin connor conrad cornelius craig curtis cyril damian dan daniel danny darren daryl
        dave david denis dennis derek dick diego dieter dietrich dirk dmitri dominic don donald doug douglas duncan
        dustin dwight ebenezer ed eddie edgar edmond edmund eduardo edward edwin eli elias elijah elliot elmer elvis
        emanuel emil emile emilio emmanuel enrico enrique eric erich erik ernest ernst erwin ethan eugene evan
        fabian felix ferdinand fernando filip florian floyd francesco francis francisco franco francois frank
        franklin franz françois fred freddie frederic frederick friedrich fritz gabriel gareth gary gavin gene geoff
        geoffrey georg george georges gerald gerard gerhard gerry gilbert giovanni giuseppe glen glenn gordon graham
        greg gregory guillaume guillermo gunther gustav hal hamish hank hans harald harold harry harvey hassan
        hector heinrich heinz helmut henri henrik henry herbert herman hermann hiroshi horace horatio howard hubert
        hugh hugo humphrey ian ibrahim ignacio igor ingmar isaac isaiah ivan jack jacob jacques jake jakob james
        jamie jan jared jason javier jay jean jeff jeffrey jeremy jerome jerry jesse jesus jim jimmy joachim joaquin
        joe joel johan johann johannes john johnny jon jonas jonathan jorge jose josef joseph josh joshua josé juan
        jules julian julio julius jurgen justin jürgen karl keith ken kenneth kevin klaus konrad kurt kyle lance
        larry lars laurence lawrence lee leo leon leonard leonardo leopold leroy leslie lester levi lewis liam
        lionel lloyd lorenzo lou louis luca lucas luciano ludwig luigi luis luke luther malcolm manfred manuel marc
        marcel marco marcus mario mark marlon marshall martin marvin mathew matt matthew matthias maurice max
        maximilian maxwell mel melvin merlin michael michel miguel mike mikhail milton mohammad mohammed moritz
        morris moses muhammad murray nathan nathaniel ned neil nelson nicholas nick nicolas nigel nikita nikolai
        noah noel norman olaf oliver omar orson oscar oskar oswald otto owen pablo patrick paul pedro percy pete
        peter phil philip philipp phillip pierre pietro quentin rafael rainer ralph ramon randall randy raphael ray
        raymond reginald reinhard rene rené ricardo richard rick robert roberto robin roderick rodney roger roland
        rolf ron ronald ronnie rory ross roy rudolf rudolph rudyard rufus rupert russell ryan sam samuel sanjay
        scott sean sebastian serge sergei seth seymour shane shaun shawn sidney siegfried sigmund simon solomon stan
        stanley stefan stephan stephen steve steven stewart stuart sven ted terence terry theo theodor theodore
        thomas tim timothy toby todd tom tommy tony travis trevor tristram truman tyler ulrich ulysses umberto uwe
        valentin victor vincent vincenzo vladimir wallace walt walter warren wayne werner wesley wilfred wilfrid
        wilhelm willard willem william willie winston wolfgang woodrow yuri yusuf zachary
    """)
)
FEMALE = frozenset(
    word_list("""
        abigail ada adele adriana agatha agnes aisha alexandra alice alicia alison alma amanda amelia amy ana
        anastasia andrea angela angelina anita ann anna anne annette annie antonia astrid audrey barbara beatrice
        beatrix becky belinda bella bernadette bertha bessie beth bettina betty beyoncé birgit brenda bridget
        brigitte camilla carla carmen carol caroline carolyn catherine cathy cecilia celeste celia cheryl chloe
        christa christina christine cindy claire clara claudia clementine constance cordelia cynthia daniela debbie
        deborah diana diane dolly dolores dora doris dorothea dorothy edith edna eileen elaine eleanor elena
        eleonora elisabeth eliza elizabeth ella ellen elsa elsie emilia emily emma erica erika erin esther ethel
        eugenie eva eve evelyn fanny fatima felicity fiona frances francesca franziska frieda gabriela gail
        geraldine gerda gertrude gillian gina gisela gladys gloria greta gretchen gwen hannah harriet heather hedwig
        heidi heike helen helena helene helga henrietta hilary hilda hildegard ida ilse ines ingeborg ingrid irene
        isabel isabella isobel jacqueline jane janet janice jeanette jeanne jennifer jenny jessica jill joan joanna
        joanne johanna josephine joyce juanita judith judy julia juliana julie juliet karen karin kate katharina
        katharine katherine kathleen kathryn kathy katie katrina kirsten klara kristen laura lauren leah lena
        leonora lila lillian lily linda lisa lois lola loretta lorna lotte louisa louise lucia lucille lucinda lucy
        lydia lynn mabel magda magdalena maggie manuela marcella margaret margarete margarita margot maria marian
        marianne marie marilyn marion marjorie marlene martha martina mary mathilda matilda maud maureen mavis megan
        melanie melissa michelle mildred millicent mina minnie miranda miriam moira molly mona monica monika muriel
        nadia nancy naomi natalia natalie nellie nicole nina nora norma olga olivia ophelia pamela patricia patty
        paula pauline peggy penelope petra philippa phoebe phyllis polly priscilla rachel ramona rebecca renate
        rhoda rita roberta rosa rosalie rosalind rosamund rose rosemary rosie ruth sally samantha sandra sara sarah
        selma serena sharon sheila shirley sibyl silvia simone sofia sonia sonja sophia sophie stella stephanie
        susan susanna susanne suzanne sybil sylvia tamara tania tanya teresa tessa thelma theresa therese tina tracy
        ulrike ursula valene valentina valerie vanessa vera veronica vivian vivien wanda wendy wilhelmina winifred
        yolanda yvette yvonne zoe
    """)
)
