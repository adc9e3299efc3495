import { Button } from "react-aria-components";

interface Props {
  /** A query that loads page by page. */
  of: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

/** A button for the next page, while there is one. */
export function ShowMore({ of }: Props) {
  if (!of.hasNextPage) return null;
  return (
    <Button onPress={() => of.fetchNextPage()} isDisabled={of.isFetchingNextPage}>
      Show more
    </Button>
  );
}
